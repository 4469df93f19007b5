# The server, with everything that needs no graphics card. Build: docker build -t personable .
FROM python:3.11-slim AS build
WORKDIR /build
COPY constraints/server.txt constraints/
RUN python -m venv /opt/personable \
    && /opt/personable/bin/pip install --no-cache-dir --only-binary :all: --require-hashes -r constraints/server.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/personable/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim
RUN useradd --system --uid 10001 --no-create-home --home-dir /data personable \
    && install -d -m 0700 -o personable /data
COPY --from=build /opt/personable /opt/personable
ENV PATH=/opt/personable/bin:$PATH \
    PERSONABLE_HOME=/data \
    PYTHONDONTWRITEBYTECODE=1
USER 10001
VOLUME /data
EXPOSE 8765
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
    CMD ["python", "-c", "import urllib.request as web; web.urlopen('http://127.0.0.1:8765/healthz', timeout=2)"]
ENTRYPOINT ["personable"]
CMD ["serve", "--host", "0.0.0.0"]
