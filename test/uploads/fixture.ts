import { Readable } from 'node:stream';
import type { Sql } from 'postgres';
import { Agent, request as send } from 'undici';
import type { TestApp } from '../harness/app.ts';
import { TestResponse } from '../harness/response.ts';

const agent = new Agent({ connections: 64 });
export const TUS = { 'tus-resumable': '1.0.0' };
export const PATCH = { ...TUS, 'content-type': 'application/offset+octet-stream' };

export type Body = string | Uint8Array | AsyncIterable<Uint8Array> | null;

/** Sends one request to a path outside the base URL. */
export async function call(
  url: string,
  method: string,
  headers: Record<string, string> = {},
  body: Body = null,
): Promise<TestResponse> {
  const response = await send(url, {
    dispatcher: agent,
    method,
    headers,
    signal: AbortSignal.timeout(20_000),
    body:
      body === null || typeof body === 'string' || body instanceof Uint8Array ? body : Readable.from(body),
  });
  return new TestResponse(response.statusCode, response.headers, await response.body.text());
}

export interface Session {
  id: string;
  videoId: string;
  /** Upload URL as reachable from the test. */
  url: string;
}

/** A session by `POST /upload`. */
export async function createSession(
  app: TestApp,
  key: string,
  body: Record<string, unknown>,
): Promise<Session> {
  const answer = await app.request('POST', '/upload', { key, body: { filename: 'Clip.mp4', ...body } });
  answer.assertOk(201);
  return {
    id: answer.string('data.id'),
    videoId: answer.string('data.videoId'),
    url: app.url + new URL(answer.string('data.uploadUrl')).pathname,
  };
}

export function patch(
  url: string,
  offset: number,
  body: Body,
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  return call(url, 'PATCH', { ...PATCH, 'upload-offset': String(offset), ...headers }, body);
}

/** The `Upload-Offset` of a HEAD. */
export async function offsetOf(url: string): Promise<number> {
  return Number((await call(url, 'HEAD', TUS)).headers['upload-offset']);
}

/** Inserts `count` copies of this session, which would take seconds by requests. */
export async function copyUpload(sql: Sql, id: string, count: number): Promise<void> {
  await sql`
    insert into upload select (jsonb_populate_record(first, jsonb_build_object('id', first.id || copy,
      'token_hash', sha256(convert_to(first.id || copy, 'UTF8'))))).*
    from upload first, generate_series(1, ${count}::integer) as copy where first.id = ${id}`;
}
