"""The toolbar's device: which GPU, whether it runs, and a menu to choose and to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMenu

from gpuviz.gpu.gpu_state import USES, State, why_of
from gpuviz.qt.controls.controls import MenuButton, keep_space, plain_tip, restyle
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from gpuviz.qt.commands.actions import Actions
    from gpuviz.qt.look.theme import Theme
    from gpuviz.qt.running.meter import Meter


class DeviceButton(MenuButton):
    """Shows the meter's state in a few words; the tip has them all."""

    def __init__(self, theme: Theme, actions: Actions) -> None:
        super().__init__(tr("Device"), theme)
        self._actions = actions
        self._meter: Meter | None = None
        self.menu_ = QMenu(self)
        self.setMenu(self.menu_)
        keep_space(self)
        self.show_state(State())

    def follow(self, meter: Meter) -> None:
        """Show what this meter is doing."""
        self._meter = meter
        meter.changed.connect(self.show_state)
        self.show_state(meter.state)

    def show_state(self, state: State) -> None:
        """Text, tip and menu."""
        self.setText(words(state))
        self.setToolTip(plain_tip(tip(state)))
        self.setProperty("live", state.activity in ("once", "continuous"))
        restyle(self)
        self._fill(state)

    def _fill(self, state: State) -> None:
        menu = self.menu_
        menu.clear()
        if state.device is None:
            menu.addAction(tr("No GPU: {why}", why=why_of(state))).setEnabled(False)
            menu.addAction(self._actions["gpu.look"])
            return
        for id in ("gpu.once", "gpu.continuous", "gpu.stop"):
            menu.addAction(self._actions[id])
        if len(state.devices) > 1:
            menu.addSeparator()
            for device in state.devices:
                chosen = device.index == state.device.index
                self._choice(menu, f"{device.index}: {device.name}", chosen, device.index)
        menu.addSeparator()
        for use in USES:
            menu.addAction(self._actions[use_id(use)])

    def _choice(self, menu: QMenu, text: str, chosen: bool, index: int) -> QAction:
        made = menu.addAction(text)
        made.setCheckable(True)
        made.setChecked(chosen)
        meter = self._meter
        if meter is not None:
            made.triggered.connect(lambda checked=False: meter.look(index))
        return made


def use_id(use: float) -> str:
    """The command that caps the use of the GPU."""
    return f"gpu.use.{round(100 * use)}"


def words(state: State) -> str:
    """The state in a few words."""
    if state.activity == "looking":
        return tr("looking for a GPU …")
    if state.device is None:
        return tr("no GPU · recorded") if state.recorded else tr("no GPU · predicted")
    running = {"once": tr("running"), "continuous": tr("live")}.get(state.activity, "")
    return f"● {state.device.name} · {running}" if running else state.device.name


def tip(state: State) -> str:
    """The state in full."""
    if state.device is None:
        said = [tr("No GPU: {why}.", why=why_of(state)), tr("Counts are predicted by the model.")]
        if state.recorded:
            said.append(tr("Times and counters: {caption}.", caption=state.recorded))
        return "\n".join(said)
    device = state.device
    return "\n".join(
        (
            tr(
                "{name}, CC {capability}, {count} multiprocessors",
                name=device.name,
                capability=device.capability,
                count=device.multiprocessors,
            ),
            tr("driver {driver}, CUDA {cuda}", driver=device.driver, cuda=device.cuda),
            tr("hardware counters: {said}", said=device.counters or tr("available")),
        )
    )
