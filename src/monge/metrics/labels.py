"""Labels of the metrics of a run: unique names that show the settings in which the metrics differ.

Names that differ already are kept. Where one name stands for several settings, each label lists the
changes from the preset of that name to its settings, without the changes that all of them share:
`twmd`, `twmd[transport=exact]`, `twmd[layers=3,transport.temperature=0.1]`. Such a label reads back
as a metric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from monge.metrics.axes import AXES
from monge.metrics.blend import BLENDS, BlendSpec
from monge.metrics.codec import settable, show_choice
from monge.metrics.lexical import LexicalSpec
from monge.metrics.metric import MetricSpec, differences
from monge.metrics.presets import Spec, find_preset, split_name
from monge.types.settings import NAME


def labels(names_and_specs: Iterable[tuple[str, Spec]]) -> list[str]:
    """Return a unique label for every metric of a run, in order.

    A name is NAME, NAME@PROFILE or NAME[changes]. Paths of models and files are shortened to their
    last part where the labels stay unique. The same settings under the same name are numbered:
    `twmd`, `twmd (2)`.
    """
    named_specs = [(name.strip(), spec) for name, spec in names_and_specs]
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
    if isinstance(spec, LexicalSpec):
        usual = LexicalSpec(spec.name).written()
        return [
            f"{option}={value}"
            for option, value in spec.written().items()
            if value != usual[option]
        ]
    if isinstance(spec, BlendSpec):
        own = {
            member: _axis_changes(BLENDS[name].spec.members[member], member_spec)
            for member, member_spec in spec.members.items()
        }
        shared = [
            change
            for change in next(iter(own.values()))
            if all(change in changes for changes in own.values())
        ]
        rest = [
            f"{member}.{change}"
            for member, changes in own.items()
            for change in changes
            if change not in shared
        ]
        return [*shared, *rest]
    return _axis_changes(find_preset(name).spec, spec)


def _axis_changes(base: MetricSpec, spec: MetricSpec) -> list[str]:
    changes = []
    for target in differences(base, spec):
        axis, dot, field = target.partition(".")
        choice = spec.choice(axis)
        if dot:
            changes.append(_field_change(spec, axis, field))
        elif axis == "layers":
            changes.append(f"layers={show_choice(choice)}")
        else:
            usual = AXES[axis][choice.name]
            changes.append(f"{axis}={choice.name}")
            changes += [
                _field_change(spec, axis, name)
                for name in settable(choice)
                if getattr(choice, name) != getattr(usual, name)
            ]
    return changes


def _field_change(spec: MetricSpec, axis: str, field: str) -> str:
    choice = spec.choice(axis)
    return f"{axis}.{field}={settable(choice)[field].metadata['kind'].show(getattr(choice, field))}"
