"""Labels of the metrics of a run: unique names that show the settings in which the metrics differ.

Names that differ already are kept. Where one name stands for several settings, each label lists the
changes from the preset of that name to its settings, without the changes that all of them share:
`twmd`, `twmd[transport=exact]`, `twmd[layers=3,transport.temperature=0.1]`. Such a label reads back
as a metric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

from monge.errors import InvalidSetting
from monge.metrics.axes import AXES
from monge.metrics.blend import BLENDS, LinearSum
from monge.metrics.blend_file import is_blend_file
from monge.metrics.codec import settable, show_choice, split_changes
from monge.metrics.lexical import LexicalSpec
from monge.metrics.metric import MetricSpec
from monge.metrics.plugins import PluginSpec
from monge.metrics.presets import Spec, find_preset, is_built_in, split_name
from monge.types.settings import NAME


def labels(names_and_specs: Iterable[tuple[str, Spec]]) -> list[str]:
    """Return a unique label for every metric of a run, in order.

    A name is NAME, NAME@PROFILE, NAME[changes] or FILE.json of a fitted blend, whose label is the
    name of the file without its ending. Paths of models and files are shortened to their last part
    where the labels stay unique. The same settings under the same name are numbered: `twmd`, `twmd
    (2)`.
    """
    texts_and_specs = [(name.strip(), spec) for name, spec in names_and_specs]
    texts = _shorten_files([name for name, _ in texts_and_specs])
    named_specs = [(text, spec) for text, (_, spec) in zip(texts, texts_and_specs, strict=True)]
    counts = Counter(name for name, _ in named_specs)
    labels = [name for name, _ in named_specs]
    for name, count in counts.items():
        if count > 1:
            places = [k for k, (other_name, _) in enumerate(named_specs) if other_name == name]
            for k, label in zip(
                places, _label_variants(name, [named_specs[k][1] for k in places]), strict=True
            ):
                labels[k] = label
    return labels


def _shorten_files(names: Sequence[str]) -> list[str]:
    """Return the names with the name of the file in place of its path, where that is unique and
    no metric of monge.
    """
    short = [PurePath(name).stem if is_blend_file(name) else name for name in names]
    counts = Counter(short)
    return [
        name if counts[short_name] > 1 or is_built_in(short_name) else short_name
        for name, short_name in zip(names, short, strict=True)
    ]


def _label_variants(name: str, specs: Sequence[Spec]) -> list[str]:
    """Return the labels of several settings that have one name."""
    bare = split_name(name)[0]
    changes = [changes_from_row(bare, spec) for spec in specs]
    shared = set.intersection(*(set(variant) for variant in changes))
    own = [[change for change in variant if change not in shared] for variant in changes]
    short = [[_shorten_path(change) for change in variant] for variant in own]
    displayed = (
        short
        if len({tuple(variant) for variant in short}) == len({tuple(variant) for variant in own})
        else own
    )
    labels = [f"{bare}[{','.join(variant)}]" if variant else bare for variant in displayed]
    uses: Counter[str] = Counter()
    for k, label in enumerate(labels):
        uses[label] += 1
        labels[k] = label if uses[label] == 1 else f"{label} ({uses[label]})"
    return labels


def _shorten_path(change: str) -> str:
    """Keep only the last part of a path, in a change whose setting takes a name or a file."""
    target, _, value = change.partition("=")
    axis, _, name = target.rpartition(".")
    choices = AXES.get(axis.rpartition(".")[2], {}).values()  # a blend writes MEMBER.AXIS
    kinds = [
        settable(choice)[name].metadata["kind"] for choice in choices if name in settable(choice)
    ]
    return f"{target}={PurePath(value).name}" if NAME in kinds else change


def changes_from_row(name: str, spec: Spec) -> list[str]:
    """Return the changes, such as `AXIS=CHOICE`, that lead from a name's preset to a spec."""
    if isinstance(spec, PluginSpec):
        return []
    if isinstance(spec, LexicalSpec):
        usual = LexicalSpec(spec.name).written()
        return [
            f"{option}={value}"
            for option, value in spec.written().items()
            if value != usual[option]
        ]
    if isinstance(spec, MetricSpec):
        return list_changes(find_preset(name).spec.written(), spec.written())
    if isinstance(spec.formula, LinearSum):
        return []
    written = {member: member_spec.written() for member, member_spec in spec.members.items()}
    return list_blend_changes(name, written)


def list_blend_changes(name: str, written: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return the changes that lead from a blend's preset to the settings of its members."""
    own = {
        member: list_changes(BLENDS[name].spec.members[member].written(), settings)
        for member, settings in written.items()
    }
    shared = set.intersection(*(set(changes) for changes in own.values()))
    first = next(iter(own.values()))
    return [
        *(change for change in first if change in shared),
        *(
            f"{member}.{change}"
            for member, changes in own.items()
            for change in changes
            if change not in shared
        ),
    ]


def list_changes(base: Mapping[str, str], written: Mapping[str, str]) -> list[str]:
    """Return the changes, such as `AXIS=CHOICE`, that lead from some settings to others.

    Both are texts by axis, as `MetricSpec.written` gives them. Raises InvalidSetting where a text
    has other fields than this version writes.
    """
    changes = []
    for axis, text in written.items():
        if text == base[axis]:
            continue
        if axis == "layers":
            changes.append(f"layers={text}")
            continue
        settings, usual = split_changes(text), split_changes(base[axis])
        if "" not in AXES[axis]:  # the first part is the name of the choice
            choice = settings.pop(0)
            if choice != usual.pop(0):
                changes.append(f"{axis}={choice}")
                usual = split_changes(show_choice(AXES[axis][choice]))[1:]
        if {part.partition("=")[0] for part in settings} != {
            part.partition("=")[0] for part in usual
        }:
            raise InvalidSetting(f"{axis}: expected the fields of {','.join(usual)}, got {text!r}")
        changes += [f"{axis}.{part}" for part in settings if part not in usual]
    return changes
