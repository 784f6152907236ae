"""Tuning end to end on a tiny model: losses fall, a killed run ends where an undisturbed one ends,
adapters open.
"""

import json
import re

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import monge
from monge.errors import DataError, InvalidSetting, ModelError, StatisticsMismatch, UsageError
from monge.tuning import Lesson, Method, Schedule, Teacher, estimate, tune, tuning
from monge.tuning.examples import judged_examples, standardise
from monge.tuning.labelled import Labelled, read_labelled
from monge.tuning.lessons import GRADES, read_grades
from monge.tuning.loop import Loop
from monge.tuning.objectives import ScoreObjective, make_objective
from monge.tuning.pair_objectives import NliObjective, ParaphraseObjective

WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "mat", "house", "house"]


@pytest.fixture
def tiny_mpnet(tiny_bert, tmp_path):
    """A model of MPNet's kind, which attends by distance, with the pieces of the tiny one."""
    from transformers import MPNetConfig, MPNetModel

    torch.manual_seed(2)
    size = {
        "hidden_size": 32,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "intermediate_size": 48,
    }
    for file in tiny_bert.iterdir():
        if file.suffix != ".safetensors":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    words = json.loads((tiny_bert / "config.json").read_text())["vocab_size"]
    config = MPNetConfig(vocab_size=words, max_position_embeddings=64, pad_token_id=1, **size)
    MPNetModel(config, add_pooling_layer=False).save_pretrained(tmp_path)
    return tmp_path


def ready(plan):
    return tuning._open_plan(plan)


def test_lessons_may_be_written(plan):
    from dataclasses import replace

    written = replace(plan, lessons="table(sample=40)*0.5")
    assert written.parsed_lessons == [Lesson("table", weight=0.5, options=(("sample", "40"),))]
    assert written.facts() == replace(plan, lessons=written.parsed_lessons).facts()
    with pytest.raises(InvalidSetting, match="--train takes"):
        ready(replace(plan, lessons=["table", "rank:*2"]))


def falls(loop, steps=30):
    losses = [loop._step(min(step, loop.steps - 1)) for step in range(steps)]
    return np.mean(losses[-5:]) < 0.8 * np.mean(losses[:5])


@pytest.mark.parametrize(
    "method", [Method("lora", rank=4), Method("last", blocks=1), Method("all")]
)
@pytest.mark.parametrize("metric", ["twmd", "twmd-b", "moverscore"])
def test_loss_falls_for_every_method(plan, method, metric):
    from dataclasses import replace

    found = ready(
        replace(
            plan, method=method, metric=metric, schedule=Schedule(epochs=8, batch=16, rate=3e-3)
        )
    )
    assert falls(found.loop)


@pytest.mark.parametrize("kind", ["similarity", "distil"])
def test_kinds_of_scores_are_learned_as_scores(judged, kind):
    made = make_objective(kind, judged_examples("table", judged), 0.5, 0, 0)
    assert (type(made), made.name, made.weight, made.correlate) == (
        ScoreObjective,
        kind,
        0.5,
        False,
    )


@pytest.mark.parametrize("kind", ["score", "correlation"])
def test_loss_falls_for_scores(plan, judged, kind):
    found = ready(plan)
    made = make_objective(kind, judged_examples("table", judged), 1.0, 0, 0)
    assert falls(
        Loop([made], found.judge, found.learner.parameters, Schedule(epochs=9, batch=16, rate=5e-3))
    )


def test_loss_falls_for_rankings(plan, judged):
    from dataclasses import replace

    examples = judged_examples("table", judged)
    order = np.argsort(examples.targets)
    ranked = replace(examples, targets=None, better=np.stack([order[32:], order[:32]], axis=1))
    found = ready(plan)
    assert falls(
        Loop(
            [make_objective("rank", ranked, 1.0, 0, 0)],
            found.judge,
            found.learner.parameters,
            Schedule(epochs=9, batch=8, rate=5e-3),
        )
    )


def test_a_lesson_says_how_many_of_its_judgements_a_step_takes(plan):
    from dataclasses import replace

    few = Lesson.parse("score:table(batch=4)")
    found = ready(replace(plan, lessons=(Lesson("table"), few)))
    assert [len(found.loop._places(k, 0)) for k in (0, 1)] == [8, 4]
    assert found.loop.steps == 4 * (48 // 8)
    with pytest.raises(InvalidSetting, match="batch takes a number, 2 or more, got 'x'"):
        _ = Lesson.parse("table(batch=x)").batch


def test_small_groups_of_held_out_judgements_are_one(plan, judged):
    """200 judgements of ten groups leave two of each to choose by: too few for a correlation
    each.
    """
    from dataclasses import replace

    from monge.stats import pearson

    found = ready(plan)
    held = replace(found.held, groups=tuple(f"g{k}" for k in range(len(found.held))))
    together = pearson(tuning.held_scores(found.judge, held), held.targets)
    assert tuning.agreement(found.judge, held) == pytest.approx(together)
    said = r"0\.1 of 64 judgements is 6, too few to choose by \(10 at least\): give --dev 0\.2, or"
    with pytest.raises(DataError, match=said):
        ready(replace(plan, dev=0.1))


def test_loss_falls_for_sentences(plan):
    random = np.random.default_rng(1)
    pairs = tuple(
        (" ".join(random.choice(WORDS, 5)), " ".join(random.choice(WORDS, 5))) for _ in range(64)
    )
    found = ready(plan)
    grades = Labelled("grades", pairs, random.choice(list(GRADES["germeval"].values()), 64))
    labels = Labelled("labels", pairs, random.integers(0, 3, 64).astype(float))
    for made in (ParaphraseObjective(grades), NliObjective(labels, width=32)):
        loop = Loop(
            [made], found.judge, found.learner.parameters, Schedule(epochs=9, batch=16, rate=1e-2)
        )
        losses = [loop._step(step) for step in range(36)]
        assert np.mean(losses[-4:]) < 0.9 * np.mean(losses[:4])


def test_what_was_learned_is_what_is_opened(plan, tmp_path):
    seen = {}

    def kept(judge, held):
        seen["judge"], seen["held"] = judge, held
        return real(judge, held)

    real = tuning.agreement
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "agreement", kept)
        made = tune(plan, tmp_path / "adapter")
    rows = seen["held"].rows
    with torch.no_grad():
        learned = seen["judge"].scores(rows).numpy()
    opened = monge.load("twmd", model=str(made.directory), layers=3)
    again = opened.score(
        [row.hypothesis for row in rows], [row.references for row in rows]
    ).segments
    assert again == pytest.approx(learned, abs=2e-3)  # half precision


def test_an_adapter_is_made_opens_and_agrees_more(plan, tmp_path):
    made = tune(plan, tmp_path / "adapter")
    card = json.loads((made.directory / "card.json").read_text())
    assert card["held_out"]["agreement"] > card["curve"][0]["agreement"]
    assert {path.name for path in made.directory.iterdir()} == {
        "adapter.safetensors",
        "card.json",
        "README.md",
        "curve.svg",
    }
    assert not (tmp_path / "adapter.partial").exists()
    texts = ["the cat sat", "a dog ran home"], ["the cat ran", "the dog sat on the mat"]
    tuned = monge.load("twmd", model=str(made.directory), layers=3)
    base = monge.load("twmd", model=plan.model, layers=3)
    assert not np.allclose(tuned.score(*texts).segments, base.score(*texts).segments, atol=1e-4)
    state = load_file(made.directory / "adapter.safetensors")
    assert all(tensor.dtype == torch.float16 for tensor in state.values())
    assert f"model:{base.scorer.reader.encoder.name}+adapter#" in str(tuned.score(*texts).signature)


def test_a_killed_run_ends_where_an_undisturbed_one_ends(plan, tmp_path):
    whole = tune(plan, tmp_path / "whole")

    class Killed(Exception):
        pass

    def watch(told):
        if told.step == 11:
            raise Killed

    with pytest.raises(Killed):
        tune(plan, tmp_path / "cut", watch=watch)
    assert (tmp_path / "cut.partial").is_dir()
    again = tune(plan, tmp_path / "cut")
    first, second = ((one.directory / "adapter.safetensors").read_bytes() for one in (whole, again))
    assert first == second
    assert whole.card["curve"] == again.card["curve"]


def test_an_unfinished_run_of_another_plan_is_refused(plan, tmp_path):
    from dataclasses import replace

    def watch(told):
        if told.step == 11:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(plan, tmp_path / "a", watch=watch)
    other = replace(plan, metric="bertscore")
    with pytest.raises(
        UsageError, match="an unfinished run with metric = 'twmd', this one has 'bertscore'"
    ):
        tune(other, tmp_path / "a")
    tune(replace(other, schedule=Schedule(epochs=1, batch=8)), tmp_path / "a", fresh=True)


def test_an_adapter_reads_before_each_text_what_it_was_tuned_with(plan, tmp_path):
    from dataclasses import replace

    short = replace(
        plan, settings=("layers=3", "encoder.prefix=the: "), schedule=Schedule(epochs=1, batch=8)
    )
    made = tune(short, tmp_path / "adapter")
    opened = monge.load("twmd", model=str(made.directory))
    assert opened.scorer.reader.prefix == "the: "
    assert "prefix:the:%20|" in str(opened.score(["the cat"], ["a cat"]).signature)
    assert (
        monge.load("bertscore[encoder.prefix=a: ]", model=str(made.directory)).scorer.reader.prefix
        == "a: "
    )
    assert monge.load("twmd", model=plan.model).scorer.reader.prefix == ""


def test_what_is_refused(plan, judged, tmp_path, tiny_roberta):
    from dataclasses import replace

    (tmp_path / "there").mkdir()
    with pytest.raises(UsageError, match="exists already"):
        tune(plan, tmp_path / "there")
    with pytest.raises(UsageError, match="no single transport"):
        tune(replace(plan, metric="chrf", settings=()), tmp_path / "x")
    with pytest.raises(InvalidSetting, match="between 0 and 1"):
        tune(replace(plan, dev=1.5), tmp_path / "x")
    with pytest.raises(InvalidSetting, match="objective takes"):
        tune(replace(plan, lessons=[Lesson("table", "raank")]), tmp_path / "x")
    with pytest.raises(InvalidSetting, match="does not learn from those"):
        tune(replace(plan, lessons=[Lesson("table", "rank")]), tmp_path / "x")
    with pytest.raises(DataError, match="all the same"):
        standardise(np.ones(9), "wmt17/cs-en")
    with pytest.raises(InvalidSetting, match="among the data"):
        tune(replace(plan, dev="table"), tmp_path / "x")


def test_a_foreign_or_damaged_adapter_is_refused(plan, tmp_path, tiny_roberta):
    from dataclasses import replace

    made = tune(replace(plan, schedule=Schedule(epochs=1, batch=8)), tmp_path / "adapter")
    card, weights = made.directory / "card.json", made.directory / "adapter.safetensors"
    facts, whole = json.loads(card.read_text()), weights.read_bytes()
    for change, said in (
        (lambda f: f["base"].update(model=str(tiny_roberta)), "serves its own base only"),
        (lambda f: f.update(format=9), "format 9"),
        (lambda f: f.pop("base"), "does not name its base"),
        (lambda f: f.update(sha256="0" * 64), "its card says 00000000"),
    ):
        other = json.loads(json.dumps(facts))
        change(other)
        card.write_text(json.dumps(other))
        with pytest.raises(ModelError, match=said):
            monge.load("twmd", model=str(made.directory))
    card.write_text(json.dumps(facts))
    weights.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match="cannot be read as safetensors"):
        monge.load("twmd", model=str(made.directory))


def test_an_estimate_says_what_would_be_done(plan):
    lines = dict(line.split(maxsplit=1) for line in estimate(plan).splitlines())
    learning = sum(parameter.numel() for parameter in ready(plan).learner.parameters)
    assert lines["metric"] == "twmd, layers 3"
    assert lines["model"] == f"tiny-bert, {learning:,} parameters learn"
    assert lines["learn"] == "from 48 judgements of table"
    assert lines["choose"] == "by  16 judgements of table"
    assert lines["steps"] == "24 of 8, 9 checks"
    assert re.fullmatch(
        r"about \d+ min on this machine as it is now \(\d+\.\d\d s a .*", lines["time"]
    )


def test_labelled_pairs(tmp_path):
    path = tmp_path / "sick.txt"
    path.write_text(
        "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n1\ta cat\ta "
        "dog\t3\tNEUTRAL\n2\ta cat\ta dog\t1\tCONTRADICTION\n"
    )
    assert read_labelled(path).values.tolist() == [1.0, 2.0]
    path.write_text("a cat\ta dog\tmaybe\n")
    with pytest.raises(
        DataError, match=r"line 1: label 'maybe'; labels: entailment, neutral, contradiction"
    ):
        read_labelled(path)


def test_graded_pairs_and_their_tables(tmp_path):
    path = tmp_path / "opusparcus.txt"
    path.write_text("de.1\tja\tgenau\t4.0\nde.2\tja\tnein\t1\n")
    assert read_labelled(path, read_grades("germeval")).values.tolist() == [0.85, 0.05]
    assert read_labelled(path, read_grades("4=.9,1=0")).values.tolist() == [0.9, 0.0]
    path.write_text("ja\tnein\t2.25\n")
    with pytest.raises(DataError, match=r"line 1: label '2\.25'; labels: 1, 1\.5"):
        read_labelled(path, read_grades("germeval"))
    path.write_text("ja\tnein\n")
    with pytest.raises(DataError, match="line 1: 2 column"):
        read_labelled(path, read_grades("germeval"))
    with pytest.raises(InvalidSetting, match="--grades takes germeval or GRADE=COSINE"):
        read_grades("germevall")
    with pytest.raises(DataError, match="between -1 and 1, got 5"):
        read_grades("1=5")


@pytest.mark.parametrize(
    ("text", "lesson"),
    [
        ("wmt15+wmt16", Lesson("wmt15+wmt16")),
        ("rank:wmt18(pairs=*-en)*0.5", Lesson("wmt18", "rank", 0.5, (("pairs", "*-en"),))),
        ("similarity:stsb(split=train,languages=de)",
         Lesson("stsb", "similarity", 1.0, (("split", "train"), ("languages", "de")))),
    ],
)  # fmt: skip
def test_lessons_are_written(text, lesson):
    assert Lesson.parse(text) == lesson


@pytest.mark.parametrize("text", ["", "wmt15*x", "wmt15*0", "wmt15(split)", "score:"])
def test_lessons_that_cannot_be_read(text):
    with pytest.raises(InvalidSetting):
        Lesson.parse(text)


def test_distil_learns_what_a_teacher_says(plan, tiny_roberta):
    from dataclasses import replace

    plain = replace(plan, lessons=[Lesson("table", "distil")])
    with pytest.raises(InvalidSetting, match="learns from a teacher"):
        ready(plain)
    teacher = Teacher("bertscore", str(tiny_roberta), alike=1.0)
    found = ready(replace(plain, teacher=teacher, schedule=Schedule(epochs=9, batch=16, rate=5e-3)))
    (learned,) = found.loop.objectives
    rows = learned.examples.rows
    said = monge.load("bertscore", model=str(tiny_roberta)).score(
        [row.hypothesis for row in rows], [row.references for row in rows]
    )
    assert np.corrcoef(said.segments, learned.examples.targets)[0, 1] == pytest.approx(1, abs=1e-9)
    assert learned.alike is not None
    assert falls(found.loop)


def test_a_teacher_may_read_the_same_rows_in_another_language(plan, tiny_roberta, tmp_path):
    from dataclasses import replace

    lines = plan.data.read_text().splitlines()
    turned = [line.split("\t") for line in lines[1:]]
    english = [f"{line}\ten" for line in lines[1:]]
    german = [
        "\t".join([" ".join(reversed(one[0].split())), one[1], *one[2:], "de"]) for one in turned
    ]
    held = [
        f"held {k} {one[0]}\theld {k} {one[1]}\t{one[2]}\t{one[3]}\theld"
        for k, one in enumerate(turned[:20])
    ]
    both = tmp_path / "both.tsv"
    both.write_text("\n".join([f"{lines[0]}\tgroup", *german, *english, *held]) + "\n")
    lesson = "distil:table(pairs=de,teacher=en)"
    taught = replace(
        plan,
        data=both,
        lessons=lesson,
        dev="table(pairs=held)",
        teacher=Teacher("twmd", str(tiny_roberta), 1),
    )
    (learned,) = ready(taught).loop.objectives
    assert [row.hypothesis for row in learned.examples.rows] == [
        " ".join(reversed(one[0].split())) for one in turned
    ]
    said = monge.load("twmd", model=str(tiny_roberta)).score(
        [one[0] for one in turned], [one[1] for one in turned]
    )
    assert np.corrcoef(said.segments, learned.examples.targets)[0, 1] == pytest.approx(1, abs=1e-9)
    here = replace(taught, lessons="distil:table(pairs=en)")
    (plain,) = ready(here).loop.objectives
    for one in turned:
        backwards = " ".join(reversed(one[0].split()))
        assert torch.equal(learned.alike.vectors[backwards], plain.alike.vectors[one[0]])
    near = replace(taught, lessons="distil:table(pairs=de,teacher=en,neighbours=2)")
    (more,) = ready(near).loop.objectives
    rows = more.examples.rows
    assert rows[:64] == learned.examples.rows and len(rows) > 2 * 64
    english_of = {" ".join(reversed(one[0].split())): one[0] for one in turned} | {
        one[1]: one[1] for one in turned
    }
    pairs = [(english_of[row.hypothesis], english_of[row.references[0]]) for row in rows]
    heard = monge.load("twmd", model=str(tiny_roberta)).score(
        [one for one, _ in pairs], [other for _, other in pairs]
    )
    assert np.corrcoef(heard.segments, more.examples.targets)[0, 1] == pytest.approx(1, abs=1e-6)
    known = learned.alike.vectors
    texts = [(row.hypothesis, row.references[0]) for row in rows[64:]]
    cosines = [float(torch.cosine_similarity(known[one], known[other], 0)) for one, other in texts]
    every = torch.nn.functional.normalize(torch.stack(list(known.values())), dim=1)
    assert np.mean(cosines) > float((every @ every.T).mean())  # neighbours, for the most part
    both.write_text("\n".join([f"{lines[0]}\tgroup", *german, *english[1:], *held]) + "\n")
    with pytest.raises(
        DataError, match=r"the teacher has no row 0 with 1 reference\(s\) in place of one of table"
    ):
        ready(taught)
    with pytest.raises(InvalidSetting, match="the option teacher is for distil, score has none"):
        ready(replace(taught, lessons="score:table(pairs=de,teacher=en)"))


def test_a_mix_of_layers_is_learned_and_opened(plan, tmp_path):
    from dataclasses import replace

    made = tune(
        replace(plan, method=Method("mix"), schedule=Schedule(epochs=6, batch=8, rate=0.3)),
        tmp_path / "mix",
    )
    mix = load_file(made.directory / "adapter.safetensors")["mix"].float()
    assert mix.shape == (4,) and mix.sum() == pytest.approx(1, abs=1e-2)
    base = monge.load("twmd", model=plan.model, layers=3).scorer.reader.encoder
    tuned = monge.load("twmd", model=str(made.directory)).scorer.reader.encoder
    ids = [text.ids for text in base.tokenise(["the cat sat", "a dog"])]
    layers = torch.stack(base.hidden(ids, [0, 1, 2, 3]))
    assert torch.allclose(
        tuned.hidden(ids, [3])[0], torch.tensordot(mix, layers, dims=1), atol=1e-6
    )
    assert torch.equal(tuned.hidden(ids, [2])[0], layers[2])


def test_blocks_that_stand_still_are_computed_once(plan, tiny_mpnet, tiny_roberta, monkeypatch):
    """Fewer blocks learn: the vectors below them are those of the model, and are not computed
    again.
    """
    from dataclasses import replace

    for model in (plan.model, str(tiny_mpnet), str(tiny_roberta)):
        found = ready(
            replace(plan, model=model, settings=("layers=2",), method=Method("lora", blocks=1))
        )
        learner, texts = found.learner, ["the cat sat on the mat", "a dog"]
        ids = [text.ids for text in learner.tokenise(texts)]
        whole = monge.load("twmd", model=model, layers=2).scorer.reader.encoder
        with torch.no_grad():
            mine = learner.hidden(ids, [1, 2])
        for one, other in zip(mine, whole.hidden(ids, [1, 2]), strict=True):
            assert torch.allclose(one, other, atol=1e-5)
        monkeypatch.setattr(learner, "_packed", None)
        learner.hidden(ids, [2])  # would need the packed model for what is not kept


def test_bf16_needs_a_processor_for_it(plan, monkeypatch):
    from monge.tuning import adapted_blocks

    monkeypatch.setattr(adapted_blocks, "packable", lambda _: False)
    with pytest.raises(InvalidSetting, match="no bf16 kernels"):
        Method(precision="bf16")
    monkeypatch.setattr(adapted_blocks, "packable", lambda _: True)
    from dataclasses import replace

    found = ready(
        replace(
            plan, method=Method(precision="bf16"), schedule=Schedule(epochs=8, batch=16, rate=3e-3)
        )
    )
    assert falls(found.loop)


def test_a_tuned_model_knows_its_layer_and_the_human_scale(plan, tmp_path):
    made = tune(plan, tmp_path / "adapter")
    texts = ["the cat sat", "a dog ran home"], ["the cat ran", "the dog sat on the mat"]
    tuned = monge.load("twmd", model=str(made.directory))
    assert tuned.scorer.request.layers == (3,)
    affine, raw = made.card["affine"], tuned.score(*texts).segments
    human = monge.load("twmd", model=str(made.directory), settings=["scale=human"]).score(*texts)
    assert human.segments == pytest.approx(affine["slope"] * raw + affine["intercept"], abs=1e-12)
    assert "scale:human" in str(human.signature)
    again = monge.load("twmd", model=f"{plan.model}+{made.directory}").score(*texts)
    assert again.segments.tolist() == raw.tolist() and str(again.signature) == str(
        tuned.score(*texts).signature
    )
    with pytest.raises(StatisticsMismatch, match="was not: use model mt"):
        monge.load("twmd", model=plan.model, settings=["scale=human"]).score(*texts)
    with pytest.raises(StatisticsMismatch, match="was tuned with layers=3, not 2"):
        monge.load("twmd", model=str(made.directory), settings=["scale=human"], layers=2).score(
            *texts
        )
    with pytest.raises(ModelError, match="is no adapter: neither a directory nor one of people"):
        monge.load("twmd", model=f"{plan.model}+mtt").score(*texts)


def stop_at(step):
    """A watcher that interrupts a run."""

    def watch(told):
        if told.step == step:
            raise KeyboardInterrupt

    return watch


def test_an_unfinished_run_does_not_go_on_with_other_data(plan, tmp_path):
    from dataclasses import replace

    with pytest.raises(KeyboardInterrupt):
        tune(plan, tmp_path / "a", watch=stop_at(11))
    lines = plan.data.read_text().splitlines()
    cells = [line.split("\t") for line in lines[1:]]
    for changed in (
        [[one[0], one[1], str(-float(one[2])), one[3]] for one in cells],
        [[f"{one[0]} cat", *one[1:]] for one in cells],
        cells[:-1],
    ):
        other = tmp_path / "other.tsv"
        other.write_text("\n".join([lines[0], *("\t".join(one) for one in changed)]) + "\n")
        with pytest.raises(UsageError, match="an unfinished run that learned from other data"):
            tune(replace(plan, data=other), tmp_path / "a")
    moved = tmp_path / "moved.tsv"
    moved.write_text(plan.data.read_text())
    assert tune(replace(plan, data=moved), tmp_path / "a").card["curve"][-1]["step"] > 11


def test_a_slash_at_the_end_of_the_output_makes_the_same_adapter(plan, tmp_path):
    from dataclasses import replace

    short = replace(plan, schedule=Schedule(epochs=1, batch=8))
    made = tune(short, f"{tmp_path}/adapter/")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["adapter"]
    assert (tmp_path / "adapter" / "adapter.safetensors").is_file()
    assert "+adapter#" in made.card["signature"]
    with pytest.raises(UsageError, match="exists already"):
        tune(short, f"{tmp_path}/adapter/")


def test_an_output_that_cannot_be_made_is_refused_before_training(plan, tmp_path, monkeypatch):
    monkeypatch.setattr(tuning, "_open_plan", lambda _: pytest.fail("a model was loaded"))
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="file is no directory"):
        tune(plan, tmp_path / "file" / "adapter")
    with pytest.raises(UsageError, match="file exists already"):
        tune(plan, tmp_path / "file")


def test_what_was_trained_is_kept_where_it_cannot_be_put_into_place(plan, tmp_path):
    from dataclasses import replace

    def appear(told):
        (tmp_path / "adapter").mkdir(exist_ok=True)
        (tmp_path / "adapter" / "theirs").write_text("")

    with pytest.raises(UsageError, match=r"it is kept in .*adapter\.partial/made"):
        tune(
            replace(plan, schedule=Schedule(epochs=1, batch=8)), tmp_path / "adapter", watch=appear
        )
    assert monge.load(
        "twmd", model=str(tmp_path / "adapter.partial" / "made")
    ).scorer.request.layers == (3,)


def test_fresh_removes_nothing_of_others(plan, tmp_path):
    from dataclasses import replace

    (tmp_path / "a.partial").mkdir()
    (tmp_path / "a.partial" / "theirs").write_text("")
    tune(replace(plan, schedule=Schedule(epochs=1, batch=8)), tmp_path / "a", fresh=True)
    assert [path.name for path in (tmp_path / "a.partial").iterdir()] == ["theirs"]
