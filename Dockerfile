# A worker that keeps runs: Debian's Chromium, fonts for what pages write, and an init.
#
#   docker build -t browser-agent .
#   docker run --rm -v runs:/data -v "$PWD":/work browser-agent run invoices.py day=2026-11-30
#
# The store lies in the volume /data, which must be a local disk of one machine. The folder with the tasks is /work.
# Several machines: docs/compose.yaml.

FROM python:3.11-slim-bookworm

# tini takes in the processes that a killed Chromium leaves behind; without fonts a picture shows boxes for letters;
# tzdata is what time_zone is looked up in.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        chromium \
        fonts-liberation \
        fonts-noto-cjk \
        fonts-noto-color-emoji \
        fonts-noto-core \
        tini \
        tzdata \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/browser-agent
COPY pyproject.toml LICENSE ./
COPY browser_agent browser_agent
COPY fixtures fixtures
COPY observers observers
# What else it is to know, such as "[postgres,s3,temporal]": docker build --build-arg EXTRAS=...
ARG EXTRAS=""
RUN pip install --no-cache-dir ".${EXTRAS}"

# Nobody needs root here; the folders are made before the volume is, so that it belongs to the right user.
RUN useradd --create-home --uid 10001 agent \
    && mkdir /data /work \
    && chown agent: /data /work
USER agent
VOLUME /data
WORKDIR /work

# Under Docker's usual rules Chromium can't build its sandbox, and doesn't start; the container is the wall then. With a
# seccomp profile that allows user namespaces, set the last one to nothing: -e BROWSER_AGENT_CHROMIUM_ARGUMENTS=
ENV BROWSER_AGENT_STORE=/data/runs.db \
    BROWSER_AGENT_CHROMIUM=/usr/bin/chromium \
    BROWSER_AGENT_CHROMIUM_ARGUMENTS=--no-sandbox

ENTRYPOINT ["tini", "--", "browser-agent"]
CMD ["--help"]
