# One image for every service; the command says which. It holds no secrets and needs none to build.
FROM node:26-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev && rm -rf node_modules/.cache

FROM node:26-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 INGEST_PORT=8080 ADMIN_PORT=8081 PROJECTOR_PORT=8082
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# For SPOOL_DIR, on a volume: a new one takes its owner from here.
RUN install -d -o node -g node -m 700 /spool
USER node
EXPOSE 8080 8081 8082
STOPSIGNAL SIGTERM
# Whichever service runs here answers on its own one of the ports.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "-e", "const { INGEST_PORT, ADMIN_PORT, PROJECTOR_PORT } = process.env; const ask = async (port) => { const { ok } = await fetch(`http://127.0.0.1:${port}/healthz`); if (!ok) throw new Error(`port ${port} does not answer 200`) }; Promise.any([INGEST_PORT, ADMIN_PORT, PROJECTOR_PORT].map(ask)).catch(({ errors }) => { console.error(errors.join('\\n')); process.exit(1) })"]
CMD ["node", "--max-semi-space-size=32", "--v8-pool-size=1", "--max-old-space-size=1024", "--no-allocation-site-pretenuring", "dist/ingest-api/main.js"]
