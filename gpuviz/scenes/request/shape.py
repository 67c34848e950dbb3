"""Moved to gpuviz.scenes.requests.sentences; here until every lesson imports it from there."""

from gpuviz.scenes.requests.sentences import shape as shape
from gpuviz.scenes.requests.sentences import title as title
from gpuviz.scenes.requests.sentences import verdict as verdict
