"""MP4 and WebM films through PyAV, which is there only where it was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import IO, Any

from gpuviz.base.errors import InputError, UnavailableError
from gpuviz.export.film import Kind, Rgb
from gpuviz.words.language import tr

_BT709, _LIMITED = 1, 1  # what players take the colours of a film this large for


@dataclass(frozen=True)
class Codec:
    """Opens films: suffix and name of the container, the codec and its quality."""

    suffix: str
    container: str
    name: str
    options: Mapping[str, str]

    def __call__(self, file: IO[bytes], kind: Kind, samples: Iterable[Rgb]) -> Video:
        """The encoder, ready for the first picture."""
        return Video(self, file, kind)

    def lacking(self) -> str:
        """What such films lack on this machine and how to get it, "" when nothing is missing."""
        if find_spec("av") is not None:
            return ""
        return tr(
            "{suffix} films need PyAV, which is not installed: pip install 'gpuviz[film]' "
            "(or choose .gif or .apng)",
            suffix=self.suffix,
        )


class Video:
    """An `Encoder`.

    Raises
    ------
    UnavailableError : PyAV, or the codec in it, is missing
    InputError : the size is odd, which the codecs do not take
    """

    def __init__(self, codec: Codec, file: IO[bytes], kind: Kind) -> None:
        if kind.width % 2 or kind.height % 2:
            raise InputError(
                f"a {codec.suffix} film of {kind.width}x{kind.height} pixels: width and "
                "height must be even"
            )
        if missing := codec.lacking():
            raise UnavailableError(missing)
        import av

        self._av = av
        self._container = av.open(
            file, "w", format=codec.container, options={"fflags": "+bitexact"}
        )
        self._container.metadata["comment"] = kind.comment
        self._stream = _stream(av, self._container, codec, kind)

    def add(self, picture: Rgb) -> None:
        """The next picture."""
        frame = self._av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(
            format="yuv420p", dst_colorspace="ITU709", dst_color_range="MPEG"
        )
        for packet in self._stream.encode(frame):
            self._container.mux(packet)

    def close(self) -> None:
        """Finish the file."""
        for packet in self._stream.encode():
            self._container.mux(packet)
        self._container.close()


def _stream(av: Any, container: Any, codec: Codec, kind: Kind) -> Any:
    """The film's stream in its container."""
    try:
        stream = container.add_stream(codec.name, rate=kind.fps, options=dict(codec.options))
    except (ValueError, av.error.FFmpegError) as error:
        raise UnavailableError(
            f"this PyAV has no {codec.name} ({error}): install PyAV from PyPI, or choose .gif or "
            ".apng"
        ) from None
    stream.width, stream.height, stream.pix_fmt = kind.width, kind.height, "yuv420p"
    context = stream.codec_context
    context.flags |= av.codec.context.Flags.bitexact
    context.colorspace = context.color_primaries = context.color_trc = _BT709
    context.color_range = _LIMITED
    return stream


# As even as the eye sees, and the same at every run. Pictures of lessons change little: deciding
# from ten to come instead of forty makes the same film, in half the memory.
MP4 = Codec(".mp4", "mp4", "libx264", {"crf": "16", "preset": "medium", "rc-lookahead": "10"})
WEBM = Codec(
    ".webm",
    "webm",
    "libvpx-vp9",
    {"crf": "24", "b": "0", "deadline": "good", "cpu-used": "4", "row-mt": "1"},
)
