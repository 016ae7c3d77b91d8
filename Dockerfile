# A worker that keeps runs: Debian's Chromium, fonts for the scripts of pages, and an init.
#
#   docker build -t browser-agent .
#   docker run --rm -v runs:/data -v "$PWD":/work browser-agent run invoices.py day=2026-11-30
#
# The store and the key of its sealed sessions lie in the volume /data, which must be a local disk of one machine. The
# folder with the tasks is /work.
# Several machines: docs/compose.yaml.

FROM python:3.11-slim-bookworm

# Playwright's Node needs libatomic1. tini reaps the processes that a killed Chromium leaves behind. Without fonts a
# picture shows boxes instead of letters. time_zone is looked up in tzdata.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        chromium \
        fonts-liberation \
        fonts-noto-cjk \
        fonts-noto-color-emoji \
        fonts-noto-core \
        libatomic1 \
        tini \
        tzdata \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/browser-agent
COPY pyproject.toml LICENSE ./
COPY browser_agent browser_agent
COPY fixtures fixtures
COPY observers observers
# Extras, such as "[postgres,s3,temporal]": docker build --build-arg EXTRAS=...
ARG EXTRAS=""
RUN pip install --no-cache-dir ".${EXTRAS}"

# Nothing here needs root. The folders exist before the volume does, so that it belongs to the right user.
RUN useradd --create-home --uid 10001 agent \
    && mkdir /data /work \
    && chown agent: /data /work
USER agent
VOLUME /data
WORKDIR /work

# Under Docker's default rules Chromium can't build its sandbox and doesn't start, so it runs without: the container is
# the sandbox. With a seccomp profile that allows user namespaces: -e BROWSER_AGENT_CHROMIUM_ARGUMENTS=
# The key lives as long as the store: a new container could not open what another key has sealed.
ENV BROWSER_AGENT_STORE=/data/runs.db \
    XDG_CONFIG_HOME=/data/config \
    BROWSER_AGENT_CHROMIUM=/usr/bin/chromium \
    BROWSER_AGENT_CHROMIUM_ARGUMENTS=--no-sandbox

ENTRYPOINT ["tini", "--", "browser-agent"]
CMD ["--help"]
