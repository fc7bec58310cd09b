# A brain in a container: docs/how-to/scale.md says how several of them share PostgreSQL and Redis.
FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm run package
RUN mkdir -p /opt/vidro
RUN tar -xzf build/vidro-*.tar.gz -C /opt/vidro --strip-components=1

# The archive brings its own Node: nothing is installed here.
FROM debian:12-slim
COPY --from=build /opt/vidro /opt/vidro
RUN useradd --system --uid 10001 --user-group --home-dir /var/lib/vidro --shell /usr/sbin/nologin vidro
RUN mkdir -p /var/lib/vidro/brain/ca
RUN chown -R 10001:10001 /var/lib/vidro
RUN chmod -R 0700 /var/lib/vidro
ENV VIDRO_HOME=/var/lib/vidro/brain PATH=/opt/vidro/bin:/usr/local/bin:/usr/bin:/bin
USER 10001:10001
WORKDIR /var/lib/vidro
VOLUME ["/var/lib/vidro"]
EXPOSE 3120 3121
STOPSIGNAL SIGTERM
# The certificate is not of this address, and whether it is trusted is not what is asked.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["/opt/vidro/node/bin/node", "-e", "require('node:https').get({ host: '127.0.0.1', port: 3120, path: '/healthz', rejectUnauthorized: false }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["vidro"]
CMD ["up", "--no-local-hand", "--host", "0.0.0.0", "--tls-cert", "/etc/vidro/tls/tls.crt", "--tls-key", "/etc/vidro/tls/tls.key"]
