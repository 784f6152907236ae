"""A local server that answers as the hub does for the repositories of a directory, for tests.

ROOT/OWNER/NAME/REVISION/FILES      the commit of a revision is the sha1 of its name
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit


def commit_of(revision: str) -> str:
    return sha1(revision.encode()).hexdigest()


class _Hub(BaseHTTPRequestHandler):
    root: Path
    paths: list[str]

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        self.paths.append(path)
        parts = path.strip("/").split("/")
        if parts[:2] == ["api", "models"]:
            status, headers, body = self._describe(parts[2:])
        elif len(parts) > 4 and parts[2] == "resolve":
            status, headers, body = self._file(parts)
        else:
            status, headers, body = 404, {}, b""
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def _revision(self, owner: str, name: str, revision: str) -> Path | None:
        folder = self.root / owner / name
        known = [path for path in folder.glob("*") if revision in (path.name, commit_of(path.name))]
        return known[0] if known else None

    def _describe(self, parts: list[str]) -> tuple[int, dict[str, str], bytes]:
        owner, name, kind, revision, *_ = [*parts, "revision", "main"]
        folder = self._revision(owner, name, revision)
        if folder is None:
            is_there = (self.root / owner / name).is_dir()
            return 404, {"X-Error-Code": "RevisionNotFound" if is_there else "RepoNotFound"}, b""
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        names = [path.relative_to(folder).as_posix() for path in files]
        content: object = {
            "id": f"{owner}/{name}",
            "modelId": f"{owner}/{name}",
            "sha": commit_of(folder.name),
            "siblings": [{"rfilename": file} for file in names],
        }
        if kind == "tree":
            content = [
                {"type": "file", "path": file, "size": path.stat().st_size, "oid": commit_of(file)}
                for file, path in zip(names, files, strict=True)
            ]
        return 200, {"Content-Type": "application/json"}, json.dumps(content).encode()

    def _file(self, parts: list[str]) -> tuple[int, dict[str, str], bytes]:
        folder = self._revision(parts[0], parts[1], parts[3])
        path = folder and folder.joinpath(*parts[4:])
        if folder is None or path is None or not path.is_file():
            return 404, {"X-Error-Code": "EntryNotFound"}, b""
        body = path.read_bytes()
        etag = sha1(body).hexdigest()
        return 200, {"ETag": f'"{etag}"', "X-Repo-Commit": commit_of(folder.name)}, body

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@contextmanager
def serve_hub(root: Path):
    """Serve the repositories below a directory; gives the address and the paths that were asked."""
    paths: list[str] = []
    handler = type("Hub", (_Hub,), {"root": root, "paths": paths})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", paths
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
