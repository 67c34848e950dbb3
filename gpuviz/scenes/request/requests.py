"""Moved to gpuviz.memory.request; here until every lesson imports it from there."""

from gpuviz.memory.request import Request as Request
from gpuviz.memory.request import first_requests as first_requests
from gpuviz.memory.request import requests_of as requests_of
