"""The catalogue of perturbations: kinds with severity and description, and their functions."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from monge.errors import UnknownName
from monge.perturbations import facts, meaning, structure, surface
from monge.perturbations.draws import Draws
from monge.perturbations.passages import Passage

SEVERITIES = ("critical", "major", "minor", "neutral")
Perturbation = Callable[[Passage, Draws], str | None]


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """A kind of error: its severity, what it does, and for which texts.

    `languages` are those that it has word lists for, empty for any; `needs` is `source` or
    `neighbour` where the text alone is not enough; `phrase` names the error in sentences; `lesson`
    says whether models are tuned on it.
    """

    name: str
    severity: str
    about: str
    languages: tuple[str, ...] = ()
    needs: str = ""
    phrase: str = ""
    lesson: bool = False

    def fits(self, language: str) -> bool:
        """Return whether the kind can be carried out in a language."""
        return not self.languages or language in self.languages


PERTURBATIONS: Mapping[str, Perturbation] = {
    "number": facts.change_number,
    "magnitude": facts.change_magnitude,
    "date": facts.change_date,
    "unit": facts.change_unit,
    "name": facts.change_name,
    "names-exchanged": facts.exchange_names,
    "negation-added": meaning.add_negation,
    "negation-dropped": meaning.drop_negation,
    "antonym": meaning.change_by_list("antonyms"),
    "quantifier": meaning.change_by_map("quantifiers"),
    "modality": meaning.change_by_map("modals"),
    "preposition": meaning.change_preposition,
    "gender": meaning.change_gender,
    "person": meaning.change_person,
    "tense": meaning.change_tense,
    "subject-dropped": structure.drop_one_of(structure.find_first_subject),
    "verb-dropped": structure.drop_one_of(structure.find_verbs),
    "noun-dropped": structure.drop_one_of(structure.find_nouns),
    "adjective-dropped": structure.drop_one_of(structure.find_adjectives),
    "clause-dropped": structure.drop_clause,
    "truncated": structure.truncate,
    "phrase-repeated": structure.repeat_phrase,
    "word-repeated": structure.repeat_word,
    "hallucination": structure.add_clause,
    "over-long": structure.pad_text,
    "words-swapped": structure.swap_words,
    "shuffled": structure.shuffle_words,
    "language-mixed": structure.mix_language,
    "other-text": structure.take_neighbour,
    "source-copied": structure.copy_source,
    "empty": structure.empty_text,
    "function-word-dropped": structure.drop_one_of(structure.find_function_words),
    "article": meaning.change_article,
    "agreement": meaning.change_agreement,
    "typo": surface.edit_word(surface.is_long, surface.swap_letters),
    "character-dropped": surface.edit_word(surface.is_long, surface.drop_letter),
    "character-added": surface.edit_word(surface.is_long, surface.double_letter),
    "lower-case": surface.lower_text,
    "upper-case": surface.upper_text,
    "word-case": surface.edit_word(surface.is_long, surface.change_first_case),
    "punctuation-changed": surface.change_mark,
    "punctuation-dropped": surface.drop_marks,
    "comma-dropped": surface.drop_comma,
    "accents-dropped": surface.drop_accents,
    "spacing": surface.double_space,
    "quotation-marks": surface.change_quotes,
    "contraction": surface.change_contraction,
    "spelling": meaning.change_by_list("spelling"),
    "number-style": facts.change_number_style,
    "synonym": meaning.change_by_map("synonyms"),
}
"""ErrorKind -> the function that carries it out: pure, None where it does not apply."""


@cache
def _catalogue() -> tuple[int, dict[str, ErrorKind]]:
    data = tomllib.loads((files("monge.perturbations") / "kinds.toml").read_text("utf-8"))
    kinds = {
        name: ErrorKind(
            name,
            row["severity"],
            row["about"],
            tuple(row.get("languages", ())),
            row.get("needs", ""),
            row.get("phrase", name.replace("-", " ")),
            row.get("lesson", False),
        )
        for name, row in data["kinds"].items()
    }
    return data["version"], kinds


def catalogue_version() -> int:
    """Return the version of the catalogue; it changes with any perturbed text."""
    return _catalogue()[0]


def list_kinds() -> list[ErrorKind]:
    """Return all kinds in the order of the catalogue."""
    return list(_catalogue()[1].values())


def choose_kinds(names: Sequence[str] = ()) -> list[ErrorKind]:
    """Return the kinds of names, or of severities such as `critical`; all without any."""
    kinds = list_kinds()
    if not names:
        return kinds
    chosen: dict[str, ErrorKind] = {}
    for name in names:
        matching = [kind for kind in kinds if name in (kind.name, kind.severity)]
        if not matching:
            raise UnknownName("kind", name, [*(kind.name for kind in kinds), *SEVERITIES], _HINT)
        chosen |= {kind.name: kind for kind in matching}
    return [kind for kind in kinds if kind.name in chosen]


_HINT = "(monge probe --list lists the kinds; a severity stands for all of its kinds)"


def perturb(kind: ErrorKind | str, passage: Passage, seed: int) -> str | None:
    """Return the perturbed text; None where the kind does not apply or would change nothing.

    The answer depends on the seed, the kind and the text alone.
    """
    name = kind if isinstance(kind, str) else kind.name
    if name not in PERTURBATIONS:
        raise UnknownName("kind", name, PERTURBATIONS, _HINT)
    new = PERTURBATIONS[name](passage, Draws(seed, name, passage.text))
    return None if new is None or new == passage.text else new
