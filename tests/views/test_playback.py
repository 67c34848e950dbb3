from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from gpuviz.story.lesson import Story
from gpuviz.story.script import Step
from gpuviz.views import playback
from gpuviz.views.playback import SPEEDS, Playback

STATE = Playback(t=1.5, bounds=(0.0, 1.0, 2.0, 4.0))


def test_time_advances_by_speed_only_while_playing() -> None:
    assert playback.advanced(STATE, 0.5).t == 1.5
    playing = replace(STATE, playing=True, speed=2.0)
    assert playback.advanced(playing, 0.5).t == 2.5


def test_playing_stops_at_the_end_or_starts_again() -> None:
    playing = replace(STATE, playing=True)
    ended = playback.advanced(playing, 9.0)
    assert (ended.t, ended.playing) == (4.0, False)
    looped = playback.advanced(replace(playing, loop=True), 3.0)
    assert (looped.t, looped.playing) == (0.5, True)


def test_playing_from_the_end_begins_anew() -> None:
    started = playback.toggled(replace(STATE, t=4.0))
    assert (started.t, started.playing) == (0.0, True)
    assert not playback.toggled(started).playing
    assert not playback.toggled(Playback()).playing


def test_steps_go_from_boundary_to_boundary() -> None:
    assert playback.stepped(STATE, True).t == 2.0
    assert playback.stepped(STATE, False).t == 1.0
    assert playback.stepped(replace(STATE, t=2.0), False).t == 1.0
    assert playback.stepped(replace(STATE, t=0.0), False).t == 0.0
    assert playback.stepped(replace(STATE, t=4.0), True).t == 4.0


def test_seeking_stays_within_the_story() -> None:
    assert playback.sought(STATE, -1.0).t == 0.0
    assert playback.sought(STATE, 99.0).t == 4.0


def test_speeds_stop_at_the_ends_of_their_table() -> None:
    state = STATE
    for _ in SPEEDS:
        state = playback.paced(state, True)
    assert state.speed == SPEEDS[-1]
    assert playback.paced(state, False).speed == SPEEDS[-2]


def test_a_new_story_is_entered_at_the_place_there_was() -> None:
    def story(*starts: float) -> Story:
        steps = tuple(Step(a, b, "load", "", "", 1, "") for a, b in pairwise(starts))
        return Story("", "", steps, lambda t, stage: stage.frame())

    stretched = playback.told(STATE, story(0.0, 2.0, 4.0, 5.0), keep=True)
    assert stretched.t == 3.0  # in the middle of the second step
    assert playback.told(STATE, story(0.0, 1.0), keep=True).t == 0.375
    assert playback.told(STATE, story(0.0, 1.0, 2.0, 4.0)).t == 0.0


CALM = replace(STATE, t=0.0, playing=True, calm=True)


def test_calm_playing_stands_still_at_the_end_of_each_step_for_its_duration() -> None:
    shown, state = [], CALM
    while state.playing:
        state = playback.advanced(state, 0.25)
        shown.append(state.t)
    # Steps of one, one and two seconds; the last tick ends the story.
    assert shown == [1.0] * 3 + [2.0] * 4 + [4.0] * 9
    assert state.clock is None


def test_calm_playing_goes_with_the_speed_and_in_circles() -> None:
    fast = playback.advanced(replace(CALM, speed=4.0), 0.3)
    assert fast.t == 2.0
    round_again = playback.advanced(replace(CALM, loop=True, clock=3.9), 0.35)
    assert (round_again.t, round_again.playing) == (1.0, True)


def test_what_the_user_does_counts_from_what_is_shown() -> None:
    waiting = playback.advanced(CALM, 0.25)
    assert playback.stepped(waiting, True).t == 2.0
    assert playback.sought(waiting, 1.7).t == 1.7
    paused = playback.toggled(waiting)
    assert (paused.t, paused.clock) == (1.0, None)
    assert playback.advanced(playback.toggled(paused), 0.1).t == 2.0


def test_a_new_story_keeps_the_waiting_time() -> None:
    steps = tuple(Step(2 * a, 2 * b, "load", "", "", 1, "") for a, b in pairwise(STATE.bounds))
    slower = Story("", "", steps, lambda t, stage: stage.frame())
    told = playback.told(playback.advanced(CALM, 0.25), slower, keep=True)
    assert (told.t, told.clock) == (2.0, 0.5)


def test_moving_pictures_move_again() -> None:
    assert playback.advanced(playback.calmed(CALM, False), 0.25).t == 0.25
