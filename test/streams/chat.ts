import type { TestApp } from '../harness/app.ts';
import { openTail } from '../harness/tail.ts';

interface Post {
  text: string;
  clientId?: string;
  replyToId?: string | null;
}

/** Creates a stream of the key's workspace, and returns actions in its chat. */
export async function createChat(app: TestApp, key: string, settings: object = {}) {
  const made = await app.request('POST', '/streams', { key, body: { title: 'x', ...settings } });
  const id = made.assertOk(201).string('data.id');
  const path = `/streams/${id}/chat`;
  const request = (method: string, more = '', body?: object) =>
    app.request(method, path + more, { key, ...(body === undefined ? {} : { body }) });
  const post = (body: Post | string) => request('POST', '', typeof body === 'string' ? { text: body } : body);
  return {
    id,
    request,
    post,
    say: async (body: Post | string) => (await post(body)).assertOk(201).string('data.id'),
    set: async (body: object) => (await app.request('PATCH', `/streams/${id}`, { key, body })).assertOk(200),
    texts: async (query = '') =>
      (await request('GET', query))
        .assertOk(200)
        .list('data')
        .map((message) => Object(message).text),
    tail: (options: { on?: TestApp; after?: string } = {}) =>
      openTail(`${(options.on ?? app).url}/api/v1${path}`, { key, ...options }),
  };
}
