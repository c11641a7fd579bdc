# For those who want a container. It was not built where it was written: no container engine ran there.
#
# Both base images are pinned by digest, so that a build tomorrow has what a build today had. Look the digests up
# (docker buildx imagetools inspect IMAGE), keep them with your deployment, and change them on purpose.
#
#   docker build -t privyseal --build-arg SWIFT_DIGEST=sha256:… --build-arg DEBIAN_DIGEST=sha256:… .
#   docker run --read-only --cap-drop ALL --security-opt no-new-privileges --ulimit core=0 --ulimit memlock=1048576 \
#     -v /srv/privyseal:/etc/privyseal:ro -v privyseal:/var/lib/privyseal -p 8443:8443 privyseal
#
# Inside, a loopback address is the container's own: give listeners.public an address that others reach, and tls.

# Required: without them a build fails, for the reference ends with "@".
ARG SWIFT_DIGEST
ARG DEBIAN_DIGEST

FROM swift:6.2-bookworm@${SWIFT_DIGEST} AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends libp11-kit-dev libsqlite3-dev libssl-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN swift build --configuration release --product privyseal \
    && install -D "$(swift build --configuration release --show-bin-path)/privyseal" /out/privyseal

FROM debian:12-slim@${DEBIAN_DIGEST}
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libp11-kit0 libsqlite3-0 libssl3 libstdc++6 zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 65532 --home-dir /var/lib/privyseal --shell /usr/sbin/nologin privyseal \
    && install -d --mode=0700 --owner=privyseal --group=privyseal /var/lib/privyseal
COPY --from=build /out/privyseal /usr/bin/privyseal
# The audit log, which must outlive the container: a volume.
VOLUME /var/lib/privyseal
USER 65532:65532
# SIGTERM lets requests finish; give it more than drainDelay and shutdownGracePeriod: docker stop --time 45
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/privyseal"]
CMD ["serve", "--config", "/etc/privyseal/gateway.yaml"]
