import { fastify } from 'fastify';

/** The baseline: one Fastify route that sends a fixed payload, serialized by its schema. */
const payload: unknown = JSON.parse(process.argv[2] ?? '{}');
const app = fastify();
app.get(
  '/streams/:id',
  { schema: { response: { 200: { type: 'object', additionalProperties: true } } } },
  async () => payload,
);
const address = await app.listen({ port: 0, host: '127.0.0.1' });
process.send?.(address);
