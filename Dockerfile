# One image for every process; docker-compose.yml picks the component. Built in two steps so that the result carries no build tools.
FROM node:20-bookworm-slim AS build
WORKDIR /flyball
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:20-bookworm-slim
ENV NODE_ENV=production
WORKDIR /flyball
COPY --from=build /flyball/package.json ./
COPY --from=build /flyball/node_modules ./node_modules
COPY --from=build /flyball/machinery/api/schema/data ./machinery/api/schema/data
COPY --from=build /flyball/dist ./dist
ENTRYPOINT ["node", "dist/cli/main.js"]
