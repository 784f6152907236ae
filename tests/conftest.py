"""What every test may ask for: the real data and models, and tiny models of three tokenizer
families.
"""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from pathlib import Path

import pytest

TRAINING = [
    "the cat sat on the mat . the dog ran to the house , and the cat slept .",
    "unhappily the newest runners were jumping over walls and rivers .",
    "natural language evaluation by optimal transport of words .",
    "he said : \u201c hello world \u201d \u2013 and left \u2026 she didn't answer !",
    "der schnelle Fuchs springt \u00fcber den faulen Hund .",
    "\u732b\u5750\u5728\u57ab\u5b50\u4e0a\u3002\u72d7\u8dd1\u56de\u5bb6\u3002",
] * 4


def _directory(variable: str) -> Path:
    """The directory an environment variable names: without it a test is skipped, but fails where CI
    is set.
    """
    named = os.environ.get(variable)
    if named and Path(named).is_dir():
        return Path(named)
    reason = f"{variable} is not set to a directory"
    if os.environ.get("CI"):
        pytest.fail(f"{reason}, and CI must run everything", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    return _directory("MONGE_DATA")


@pytest.fixture(scope="session")
def models_dir() -> Path:
    return _directory("MONGE_MODELS")


@pytest.fixture(scope="module")
def browser():
    """A real Chromium; tests that need one are skipped without, but fail where CI is set."""
    playwright = pytest.importorskip("playwright.sync_api")
    where = (
        os.environ.get("MONGE_CHROMIUM")
        or shutil.which("chromium")
        or shutil.which("google-chrome")
    )
    if where is None:
        if os.environ.get("CI"):
            pytest.fail(
                "no chromium here, and CI must run everything: apt-get install chromium",
                pytrace=False,
            )
        pytest.skip("no chromium here (apt-get install chromium, or set MONGE_CHROMIUM)")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=where, args=["--no-sandbox"])
        yield found
        found.close()


SIZES = {
    "hidden_size": 32, "num_hidden_layers": 6, "num_attention_heads": 4, "intermediate_size": 64,
    "initializer_range": 0.3,
}  # fmt: skip
WORDPIECES = """[UNK] [CLS] [SEP] [PAD] [MASK]
the cat sat on mat dog ran to house and slept a an is of in it he she said hello world not
un run jump wall river ##happi ##ly ##ning ##ner ##ners ##ing ##s ##ed ##the new ##est
. , ! ? : ; ' " ( ) [ ] - / “ ” – … 。 ，
猫 坐 在 垫 子 上 狗 sep cls mask ##p query passage x y z w v u 1 2 3"""
JUDGED_WORDS = "quick brown fox jumps over lazy dogs while nine small cats watch from warm zzz"
SENTENCE_PIECES = "the cat sat on mat dog ran house and un happi ly run ning slept . , : ! ▁. ▁,"


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """WordPiece, lower-casing, six layers of 32, reads 48 pieces; the pad id is 3."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    pieces = list(dict.fromkeys(WORDPIECES.split()))
    vocabulary = {
        piece: number for number, piece in enumerate(dict.fromkeys([*pieces, *_words_of_tests()]))
    }
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]",
        mask_token="[MASK]", model_max_length=48,
    )  # fmt: skip
    torch.manual_seed(1)
    model = BertModel(
        BertConfig(vocab_size=len(pieces), max_position_embeddings=64, pad_token_id=3, **SIZES)
    )
    table = model.embeddings.word_embeddings.weight.detach()
    more = 0.3 * torch.randn(len(vocabulary) - len(pieces), table.shape[1])
    model.set_input_embeddings(
        torch.nn.Embedding.from_pretrained(torch.cat([table, more]), padding_idx=3)
    )
    model.config.vocab_size = len(vocabulary)
    return _saved(tmp_path_factory.mktemp("models") / "tiny-bert", model, tokenizer)


def _words_of_tests() -> list[str]:
    """What the bundled example and the drawn judgements are written in: a model must know most of a
    text.
    """
    example = Path(__file__).parents[1] / "src" / "monge" / "example"
    texts = " ".join(path.read_text("utf-8") for path in sorted(example.glob("*.txt"))).lower()
    plain = "".join(
        one for one in unicodedata.normalize("NFD", texts) if not unicodedata.combining(one)
    )
    return sorted(set(re.findall(r"\w+", plain)) | set(JUDGED_WORDS.split()))


@pytest.fixture(scope="session")
def tiny_roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Byte-level BPE, 42 positions of which 40 can be used."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaModel

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    backend.train_from_iterator(TRAINING, trainer)
    backend.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), add_prefix_space=False
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, unk_token="<unk>", cls_token="<s>", sep_token="</s>", bos_token="<s>",
        eos_token="</s>", pad_token="<pad>", mask_token="<mask>",
    )  # fmt: skip
    torch.manual_seed(2)
    config = RobertaConfig(
        vocab_size=len(tokenizer), max_position_embeddings=42, pad_token_id=1, **SIZES
    )
    return _saved(
        tmp_path_factory.mktemp("models") / "tiny-roberta", RobertaModel(config), tokenizer
    )


@pytest.fixture(scope="session")
def tiny_xlmr(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """SentencePiece-like unigram pieces that begin words with the mark U+2581; a lone mark is a
    piece.
    """
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

    words = SENTENCE_PIECES.split()
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("\u2581", -6.0)]
    pieces += [(f"\u2581{word}", -4.0) for word in words if word.isalpha()]
    pieces += [(word, -5.0) for word in words]
    pieces += [(letter, -9.0) for letter in "abcdefghijklmnopqrstuvwxyz"]
    pieces += [(letter, -5.0) for letter in "\u732b\u5750\u5728\u57ab\u5b50\u4e0a\u3002"]
    backend = Tokenizer(models.Unigram(list(dict(reversed(pieces)).items())[::-1], unk_id=3))
    backend.normalizer = normalizers.Nmt()
    backend.pre_tokenizer = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always")
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, unk_token="<unk>", cls_token="<s>", sep_token="</s>", bos_token="<s>",
        eos_token="</s>", pad_token="<pad>", model_max_length=40,
    )  # fmt: skip
    torch.manual_seed(3)
    config = XLMRobertaConfig(
        vocab_size=len(tokenizer), max_position_embeddings=62, pad_token_id=1, **SIZES
    )
    return _saved(
        tmp_path_factory.mktemp("models") / "tiny-xlmr", XLMRobertaModel(config), tokenizer
    )


def _saved(directory: Path, model, tokenizer) -> Path:
    model.eval().save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    return directory
