# For those who want a container. It was not built where it was written: no container engine ran there.
#
# Both base images are pinned by digest, so that a build tomorrow has what a build today had. The digest of the Swift
# image is an argument without a default, because no registry was within reach when this file was written. Look it up
# (docker buildx imagetools inspect swift:6.2-bookworm), and keep it with your deployment.
#
#   docker build -t privyseal --build-arg SWIFT_DIGEST=sha256:… .
#   docker run --read-only --cap-drop ALL --security-opt no-new-privileges --ulimit core=0 --ulimit memlock=1048576 \
#     -v /srv/privyseal:/etc/privyseal:ro -v privyseal:/var/lib/privyseal -p 8443:8443 privyseal
#
# Inside, a loopback address is the container's own: give listeners.public an address that others reach, and tls.

# Required: without it a build fails, because the reference ends with "@".
ARG SWIFT_DIGEST
# debian:bookworm-20260824-slim. Take a newer one for newer security updates.
ARG DEBIAN_DIGEST=sha256:88200866dfff7ea7f5cbcb6ec7c8a701889efe6fe859fe64d6990e4b07ea4171

FROM swift:6.2-bookworm@${SWIFT_DIGEST} AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends libp11-kit-dev libpq-dev libseccomp-dev libsqlite3-dev libssl-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN swift build --configuration release --product privyseal \
    && install -D "$(swift build --configuration release --show-bin-path)/privyseal" /out/privyseal

FROM debian:12-slim@${DEBIAN_DIGEST}
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libp11-kit0 libpq5 libseccomp2 libsqlite3-0 libssl3 libstdc++6 zlib1g \
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
