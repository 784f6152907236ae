"""Pairs of sentences read together: the vectors against transformers, the labels, what is
learned, and what is chosen by held-out labels.
"""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

import monge
from monge.errors import DataError, InvalidSetting
from monge.tuning import Lesson, Method, Schedule, estimate, tune, tuning
from monge.tuning.labelled import PARAPHRASE, Labelled, read_classes
from monge.tuning.learner import Learner, joint_vectors
from monge.tuning.lessons import DataLocation, open_lesson
from monge.tuning.loop import Loop
from monge.tuning.pair_objectives import ClassifyObjective, NliObjective, ParaphraseObjective
from monge.tuning.splitting import hold_out, judgement_texts
from monge.types import Segment

PAIRS = [("the cat sat", "a dog ran on the mat"), ("a dog", "the cat"), ("the house", "a house")]
WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "mat"]


def begin(model, method=None):
    learner = Learner(str(model))
    learner.begin(learner.depth, method or Method("lora"), 0)
    return learner


@pytest.fixture(scope="module")
def framed_bert(tiny_bert, tmp_path_factory):
    """The tiny model with a tokenizer that frames pairs itself, as BERT's does."""
    from tokenizers import Tokenizer, processors

    folder = tmp_path_factory.mktemp("models") / "framed-bert"
    shutil.copytree(tiny_bert, folder)
    backend = Tokenizer.from_file(str(folder / "tokenizer.json"))
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    backend.save(str(folder / "tokenizer.json"))
    return folder


def transformers_layer(model, pieces):
    """The last layer of transformers for a pair [pieces, d]."""
    from transformers import AutoModel

    types = {} if max(pieces.types) == 0 else {"token_type_ids": torch.tensor([pieces.types])}
    with torch.no_grad():
        run = AutoModel.from_pretrained(model).eval()
        return run(input_ids=torch.tensor([pieces.ids]), **types).last_hidden_state[0]


@pytest.mark.parametrize("kind", ["tiny_bert", "framed_bert", "tiny_roberta"])
def test_the_first_piece_and_the_mean_are_those_of_transformers(kind, request):
    model = request.getfixturevalue(kind)
    learner = begin(model)
    with torch.no_grad():
        first, mean = (joint_vectors(learner, PAIRS, pool).numpy() for pool in ("first", "mean"))
    for k, pieces in enumerate(learner.cut_pairs(PAIRS)):
        vectors = transformers_layer(model, pieces)
        inner = [place for place, flag in enumerate(pieces.special) if not flag]
        np.testing.assert_allclose(first[k], vectors[0].numpy(), atol=1e-5)
        np.testing.assert_allclose(mean[k], vectors[inner].mean(0).numpy(), atol=1e-5)


@pytest.mark.parametrize("kind", ["tiny_bert", "framed_bert", "tiny_roberta"])
def test_pairs_are_framed_as_the_papers_do(kind, request):
    """`[CLS] a [SEP] b [SEP]`, also by a tokenizer that frames no pairs; RoBERTa has two marks."""
    learner = begin(request.getfixturevalue(kind))
    (pieces,) = learner.cut_pairs([("the cat", "a dog ran")])
    tokens = [learner._backend.id_to_token(i).strip("\u0120") for i in pieces.ids]
    if kind == "tiny_roberta":
        assert tokens[0] == "<s>" and tokens.count("</s>") == 3 and set(pieces.types) == {0}
        return
    assert tokens == ["[CLS]", "the", "cat", "[SEP]", "a", "dog", "ran", "[SEP]"]
    assert pieces.types == (0, 0, 0, 0, 1, 1, 1, 1)
    assert pieces.special == (True, False, False, True, False, False, False, True)


def test_token_types_move_the_vectors_where_a_model_has_two(tiny_bert, tiny_roberta):
    learner = begin(tiny_bert)
    (pieces,) = learner.cut_pairs(PAIRS[:1])
    assert (
        pieces.types == (0,) * 5 + (1,) * 7
    )  # [CLS] the cat sat [SEP] | a dog ran on the mat [SEP]
    with torch.no_grad():
        joint = learner.hidden_of_pairs([pieces])
        untyped = learner.hidden_of_pairs([pieces._replace(types=(0,) * 12)])
    assert not torch.allclose(joint, untyped, atol=1e-4)
    assert set(begin(tiny_roberta).cut_pairs(PAIRS[:1])[0].types) == {0}


def test_a_pair_does_not_depend_on_its_batch(tiny_bert):
    learner = begin(tiny_bert)
    with torch.no_grad():
        together = joint_vectors(learner, [*PAIRS, PAIRS[0]], "first")
        alone = [joint_vectors(learner, [pair], "first")[0] for pair in PAIRS]
    np.testing.assert_allclose(together[:3], torch.stack(alone), atol=1e-6)
    assert torch.equal(together[0], together[3])


def test_a_pair_that_is_too_long_loses_the_end_of_its_longer_sentence(tiny_bert):
    learner = begin(tiny_bert)
    (pieces,) = learner.cut_pairs([("cat " * 600, "a dog")])
    assert len(pieces.ids) == learner.longest
    assert pieces.types.count(1) == 3  # a dog [SEP] stand whole
    assert len(learner.tokenise(["cat " * 600])[0].ids) > learner.longest  # and only pairs are cut


def test_gradients_reach_all_blocks_that_learn_and_no_other(tiny_bert):
    learner = begin(tiny_bert, Method("lora", blocks=1))
    joint_vectors(learner, PAIRS, "first").square().sum().backward()
    assert learner.blocks.first == learner.depth - 1
    assert all(parameter.grad is not None for parameter in learner.parameters)
    assert any(float(parameter.grad.abs().max()) > 0 for parameter in learner.parameters)


class GivenVectors:
    """A judge whose vectors of pairs are known."""

    def __init__(self, vectors):
        self.vectors = torch.tensor(vectors, requires_grad=True)

    def joint_vectors(self, pairs, pool):
        return self.vectors[[int(first) for first, _ in pairs]]


def test_loss_and_accuracy_by_hand():
    """Logits (0, 1) and (2, 0) of classes 1 and 1: log(1 + e^-1), log(1 + e^2); half is right."""
    pairs = tuple((str(k), "x") for k in range(2))
    labelled = Labelled("x", pairs, np.array([1.0, 1.0]), classes=("1", "0"))
    made = ClassifyObjective(labelled, width=2)
    with torch.no_grad():
        made.head.weight.copy_(torch.eye(2))
        made.head.bias.zero_()
    judge = GivenVectors([[0.0, 1.0], [2.0, 0.0]])
    loss = made.loss([0, 1], judge)
    expected = (np.log1p(np.exp(-1)) + np.log1p(np.exp(2))) / 2
    assert float(loss.detach()) == pytest.approx(expected, abs=1e-6)
    assert made.agreement(labelled, judge) == 0.5


def test_loss_falls(plan):
    random = np.random.default_rng(1)
    pairs = tuple(
        (" ".join(random.choice(WORDS, 4)), " ".join(random.choice(WORDS, 4))) for _ in range(64)
    )
    ready = tuning._open_plan(plan)
    labelled = Labelled("labels", pairs, random.integers(0, 3, 64).astype(float))
    for pool in ("first", "mean"):
        made = ClassifyObjective(labelled, width=32, pool=pool)
        schedule = Schedule(epochs=9, batch=16, rate=1e-2)
        loop = Loop([made], ready.judge, ready.learner.parameters, schedule)
        losses = [loop._step(step) for step in range(36)]
        assert np.mean(losses[-4:]) < 0.9 * np.mean(losses[:4])


@pytest.fixture
def written(tmp_path):
    """240 pairs: the label says whether the second sentence begins with an animal."""
    random = np.random.default_rng(3)
    lines = []
    for k in range(240):
        first, second = (list(random.choice(WORDS[2:6], 2)) for _ in range(2))
        label = "1" if second[0] in ("cat", "dog") else "0"
        lines.append(f"{' '.join(first)} {WORDS[k % 8]} {k}\t{' '.join(second)} {k} x\t{label}")
    path = tmp_path / "pairs.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_labels_alone_are_learned_and_chosen_by(plan, written, tmp_path):
    """Without human scores: accuracy on held-out pairs decides, and the adapter opens."""
    learned = replace(
        plan,
        lessons=[Lesson(str(written), "classify")],
        dev=0.2,
        metric="moverscore",
        settings=("layers=last2:mean",),
        schedule=Schedule(epochs=12, batch=8, rate=5e-3, checks=1),
    )
    made = tune(learned, tmp_path / "adapter")
    held = made.card["held_out"]
    assert (held["statistic"], held["judgements"]) == ("accuracy", 48)
    majority = max(np.mean([line.endswith(k) for line in written.read_text().split("\n")[:-1]])
                   for k in "01")  # fmt: skip
    assert held["agreement"] > majority + 0.15
    assert held["texts_also_learned"] == 0
    assert "accuracy 0." in (made.directory / "README.md").read_text()
    texts = ["a cat", "the dog ran"], ["the cat", "a dog"]
    tuned, base = (monge.load("moverscore", model=str(model), layers="last2:mean").score(*texts)
                   for model in (made.directory, plan.model))  # fmt: skip
    assert not np.allclose(tuned.segments, base.segments, atol=1e-4)
    assert "choose by  48 judgements of pairs.tsv" in estimate(learned)


def test_an_interrupted_run_of_labels_ends_as_an_undisturbed_one(plan, written, tmp_path):
    learned = replace(
        plan, lessons=[Lesson(str(written), "classify")], schedule=Schedule(1, 8, checks=2)
    )
    whole = tune(learned, tmp_path / "whole")

    def watch(told):
        if told.step == 15:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(learned, tmp_path / "cut", watch=watch)
    again = tune(learned, tmp_path / "cut")
    assert whole.card["curve"] == again.card["curve"]
    assert json.loads((again.directory / "card.json").read_text())["sha256"] == whole.card["sha256"]


def test_other_pairs_to_choose_by_must_have_the_labels_that_are_learned(plan, written, tmp_path):
    other = tmp_path / "dev.tsv"
    other.write_text("the mat sat\tthe mat\t1\na mat ran\ton a mat\t0\n" * 8)
    learned = replace(plan, lessons=[Lesson(str(written), "classify")], dev=f"classify:{other}")
    assert len(tuning._open_plan(learned).held) == 16
    other.write_text("the mat sat\tthe mat\tneutral\na mat ran\ton a mat\tentailment\n" * 8)
    with pytest.raises(InvalidSetting, match="must learn classify of the same labels, it learns"):
        tuning._open_plan(learned)
    with pytest.raises(InvalidSetting, match="must learn classify of the same labels, it learns"):
        tuning._open_plan(replace(learned, lessons=[Lesson("table")]))


def test_agreement_of_the_other_pair_objectives():
    class Judge:
        def sentences(self, texts):
            return torch.tensor([[float(text), 1.0] for text in texts])

    pairs = (("0", "0"), ("1", "-1"), ("1", "0"))
    graded = Labelled("x", pairs, np.array([1.0, 0.0, 0.7]))
    cosines = [1.0, 0.0, 0.5**0.5]
    assert ParaphraseObjective(graded).agreement(graded, Judge()) == pytest.approx(
        np.corrcoef(cosines, graded.values)[0, 1], abs=1e-6
    )
    made = NliObjective(Labelled("x", pairs, np.array([0.0, 1.0, 2.0])), width=2)
    with torch.no_grad():
        made.head.weight.zero_()
        made.head.bias.copy_(torch.tensor([0.0, 1.0, 0.0]))
    assert made.agreement(made.examples, Judge()) == pytest.approx(1 / 3)


def test_pairs_are_held_out_with_all_their_sentences(written):
    lesson = read_classes(written)
    parts = hold_out([lesson], 0.1, 1)
    assert len(parts.held) == 24 and parts.shared == 0
    forbidden = {text for texts in judgement_texts(parts.held) for text in texts}
    assert all(texts.isdisjoint(forbidden) for texts in judgement_texts(parts.lessons[0]))


@pytest.mark.parametrize(
    ("labels", "option", "classes"),
    [
        (["ENTAILMENT", "neutral"], "", ("entailment", "neutral", "contradiction")),
        (["not_entailment", "entailment"], "", ("entailment", "not_entailment")),
        (["1", "0"], "", ("1", "0")),
        (["ja", "Nein"], "(labels=ja/nein)", ("ja", "nein")),
        (["4.5", "3"], "(paraphrase_from=4)", PARAPHRASE),
    ],
)
@pytest.mark.parametrize("objective", ["nli", "classify"])
def test_sets_of_two_and_three_labels(tmp_path, objective, labels, option, classes):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"a\tb\t{label}\n" for label in labels))
    opened = open_lesson(Lesson.parse(f"{objective}:{path}{option}"), DataLocation(tmp_path))
    assert opened.classes == classes
    assert [classes[int(value)] for value in opened.values] in (
        [label.lower() for label in labels],
        list(PARAPHRASE),
    )


def test_grades_of_a_data_set_and_of_sick_become_two_labels(tmp_path):
    sick = tmp_path / "sick.txt"
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
    rows = ["1\ta cat\ta dog\t4\tNEUTRAL", "2\ta cat\ta mat\t3.9\tCONTRADICTION"]
    sick.write_text("\n".join([header, *rows]) + "\n")
    opened = open_lesson(
        Lesson.parse(f"classify:{sick}(paraphrase_from=4)"), DataLocation(tmp_path)
    )
    assert opened.values.tolist() == [0.0, 1.0]
    graded = open_lesson(Lesson.parse(f"paraphrase:{sick}(human_range=1/5)"), DataLocation("."))
    assert graded.values == pytest.approx([0.75, 0.725])
    table = tmp_path / "table.tsv"
    table.write_text("hypothesis\treference\thuman\na\tb\t5\nc\td\t2\ne\tf\t4\n")
    of_table = open_lesson(
        Lesson.parse("classify:table(paraphrase_from=4,sample=3)"), DataLocation(table)
    )
    assert of_table.values.tolist() == [0.0, 1.0, 0.0]
    assert of_table.pairs[1] == ("c", "d")


@pytest.mark.parametrize(
    ("text", "option", "error", "message"),
    [
        (
            "a\tb\tneutrale\n",
            "",
            DataError,
            "line 1: label 'neutrale'; labels: entailment, neutral",
        ),
        ("a\tb\tneutral\na\tc\tnot_entailment\n", "", DataError, "line 2: label 'not_entailment'"),
        ("a\tb\t1\n", "", DataError, "every one of its 1 pairs has the label '1'"),
        ("a\tb\tyes\n", "(labels=yes)", InvalidSetting, "labels takes two or three labels"),
        ("a\tb\tyes\n", "(labels=a/b/c/d)", InvalidSetting, "labels takes two or three labels"),
        ("a\tb\tmaybe\n", "(labels=yes/no)", DataError, "label 'maybe'; labels: yes, no"),
        ("a\tb\t1\n", "(pool=max)", InvalidSetting, "pool takes first or mean, got 'max'"),
        ("a\tb\t3\n", "(paraphrase_from=x)", InvalidSetting, "paraphrase_from takes a grade"),
        ("a\tb\t3\n", "(paraphrase_from=4)", DataError, "lie on one side of paraphrase_from=4"),
        ("a\tb\tnan\n", "(paraphrase_from=4)", DataError, "label 'nan'; grades are numbers"),
        ("a\tb\t3\n", "(paraphrase_from=4,labels=a/b)", InvalidSetting, "exclude each other"),
        ("a\tb\t1\n", "(split=train)", InvalidSetting, "takes the options sample, batch, labels"),
    ],
)
def test_what_is_refused(tmp_path, text, option, error, message):
    path = tmp_path / "pairs.tsv"
    path.write_text(text)
    with pytest.raises(error, match=message):
        lesson = Lesson.parse(f"classify:{path}{option}")
        open_lesson(lesson, DataLocation(tmp_path))
        assert lesson.pool


def test_options_of_other_objectives_are_refused(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("a\tb\t6\n")
    for written, message in (
        (f"paraphrase:{path}(pool=mean)", "pool is for classify, paraphrase has none"),
        (f"nli:{path}(pool=mean)", "pool is for classify, nli has none"),
        ("score:table(labels=a/b)", "labels is for nli and classify, score has none"),
        (f"paraphrase:{path}(human_range=5/1)", "human_range takes LOW/HIGH, such as 1/5"),
        ("classify:stsb", r"classify:stsb\(paraphrase_from=GRADE\)"),
    ):
        with pytest.raises(InvalidSetting, match=message):
            open_lesson(Lesson.parse(written), DataLocation(tmp_path))
    with pytest.raises(DataError, match="label '6'; grades lie between 1 and 5"):
        open_lesson(Lesson.parse(f"paraphrase:{path}(human_range=1/5)"), DataLocation(tmp_path))


@pytest.mark.parametrize(
    "settings",
    [
        (),
        ("units.specials=drop",),
        ("units.subwords=first", "units.punctuation=drop"),
        ("layers=last2:mean", "encoder.prefix=the: "),
    ],
)
def test_training_pools_the_units_that_scoring_pools(plan, settings):
    """The cosine that `paraphrase` learns is the score of `sbert`, special pieces and all."""
    judge = tuning._open_plan(replace(plan, metric="sbert", settings=settings)).judge
    rows = [Segment(str(k), *pair[:1], pair[1:]) for k, pair in enumerate(PAIRS)]
    with torch.no_grad():
        scores = judge.scores(rows)
        vectors = judge.sentences([text for pair in PAIRS for text in pair])
        cosines = torch.cosine_similarity(vectors[0::2], vectors[1::2])
    np.testing.assert_allclose(cosines.numpy(), scores.numpy(), atol=1e-6)


def test_whether_special_pieces_are_pooled_is_the_metrics_choice(plan):
    with torch.no_grad():
        kept, dropped = (
            tuning._open_plan(replace(plan, metric="sbert", settings=settings)).judge.sentences(["a cat"])
            for settings in ((), ("units.specials=drop",))
        )  # fmt: skip
    assert not torch.allclose(kept, dropped, atol=1e-3)
