# One image for every program. By itself it is the whole service in one process, with its data in /data:
#   docker run -p 127.0.0.1:8080:8080 -p 127.0.0.1:8081:8081 -v gps:/data IMAGE
# It speaks plain HTTP: put a proxy with TLS in front before others can reach it (docs/small-server.md).
# It holds no secrets and needs none to build.
FROM node:26-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev && rm -rf node_modules/.cache

FROM node:26-bookworm-slim
LABEL org.opencontainers.image.title="GPS position ingestion" \
  org.opencontainers.image.description="Receives GPS position reports over HTTP and stores each one exactly once" \
  org.opencontainers.image.licenses=MIT
ENV NODE_ENV=production HOST=0.0.0.0 INGEST_PORT=8080 ADMIN_PORT=8081 PROJECTOR_PORT=8082 DELIVERER_PORT=8083 DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/scripts/start.sh ./scripts/
# For DATA_DIR, and for SPOOL_DIR: a new volume takes its owner from here.
RUN install -d -o node -g node -m 700 /data /spool
VOLUME /data
USER node
EXPOSE 8080 8081 8082 8083
STOPSIGNAL SIGTERM
# Every program answers on one of these ports.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "-e", "const { INGEST_PORT, ADMIN_PORT, PROJECTOR_PORT, DELIVERER_PORT } = process.env; const ask = async (port) => { const { ok } = await fetch(`http://127.0.0.1:${port}/healthz`); if (!ok) throw new Error(`port ${port} does not answer 200`) }; Promise.any([INGEST_PORT, ADMIN_PORT, PROJECTOR_PORT, DELIVERER_PORT].map(ask)).catch(({ errors }) => { console.error(errors.join('\\n')); process.exit(1) })"]
CMD ["scripts/start.sh", "embedded"]
