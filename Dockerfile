# monge serve in a container: nothing is fetched at run time, nobody is root, the file system is read only.
# A build that others can repeat names the base by its digest, which `docker buildx imagetools inspect python:3.11-slim` shows:
# --build-arg PYTHON_IMAGE=python:3.11-slim@sha256:…
ARG PYTHON_IMAGE=python:3.11-slim
FROM ${PYTHON_IMAGE} AS built
WORKDIR /src
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY constraints.txt pyproject.toml README.md LICENSE NOTICE ./
COPY src src
# torch for the CPU, some gigabytes smaller: where the usual index has another, --build-arg TORCH_INDEX=URL names one of CPU builds;
# --build-arg CUDA=yes takes whatever comes
ARG TORCH_INDEX=
ARG CUDA=no
RUN python -m venv /opt/monge \
 && /opt/monge/bin/pip install -c constraints.txt ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} torch \
 && /opt/monge/bin/python -c "import sys, torch; sys.exit('this torch is built for CUDA: give --build-arg TORCH_INDEX=URL of CPU builds, or --build-arg CUDA=yes' if torch.version.cuda and '$CUDA' != 'yes' else 0)" \
 && /opt/monge/bin/pip install -c constraints.txt '.[embedded,lexical,server]'

FROM ${PYTHON_IMAGE}
COPY --from=built /opt/monge /opt/monge
RUN useradd --system --uid 10001 --no-create-home monge && mkdir /state && chown monge /state
USER 10001
ENV PATH=/opt/monge/bin:$PATH PYTHONDONTWRITEBYTECODE=1 HF_HUB_OFFLINE=1 HOME=/tmp
VOLUME /state
EXPOSE 8000
# /health/ready, not /health/live: it says 503 where the engine or the jobs are stuck
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health/ready', timeout=4)"]
# an address that others can reach needs a token: mount one at /run/secrets/monge-token
ENTRYPOINT ["monge", "serve", "--host", "0.0.0.0", "--port", "8000", "--state", "/state", "--token-file", "/run/secrets/monge-token"]
