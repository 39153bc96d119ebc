import { headersOf, OWNER_KEY, type RunningPlatform } from './platform.ts';
import { waitFor } from './wait-for.ts';

/** Fields of a stream used by tests. */
export interface StreamData {
  id: string;
  streamKey: string | null;
  hasSignal: boolean;
  isLive: boolean;
  status: string;
  startedAt: string | null;
  playbackUrl: string;
  previewUrl: string | null;
  health: { bitrateKbps: number; issues: string[] } | null;
}

export interface WebhookData {
  id: string;
  signingSecret: string;
}

/** Fields of a video used by tests. */
export interface VideoData {
  id: string;
  status: 'UPLOADING' | 'QUEUED' | 'PROCESSING' | 'READY' | 'FAILED';
  error: { code: string; message: string } | null;
  durationSec: number | null;
  playbackUrl: string | null;
  thumbnailUrl: string | null;
  renditions: { name: string; width: number; height: number }[];
  replacement: { status: string; error: { code: string; message: string } | null } | null;
}

export interface UploadData {
  id: string;
  videoId: string;
  uploadUrl: string;
}

/** The events of a broadcast (docs/concepts/streams.md#states): `stream.*` has more. */
export const BROADCAST_EVENTS: readonly string[] = [
  'stream.live',
  'stream.broadcast_started',
  'stream.broadcast_stopped',
  'stream.ended',
];

/** A partner of the platform: calls the API over HTTP and reads `data`. */
export interface Partner {
  /** @throws {Error} with the body, when the response is not 2xx. */
  call(method: string, path: string, body?: object): Promise<{ data: unknown; status: number }>;
  createStream(input?: object): Promise<StreamData & { streamKey: string }>;
  stream(id: string): Promise<StreamData>;
  start(id: string): Promise<StreamData>;
  stop(id: string): Promise<StreamData>;
  createWebhook(url: string, events?: readonly string[]): Promise<WebhookData>;
  createUpload(input: { filename: string; sizeBytes: number; title?: string }): Promise<UploadData>;
  video(id: string): Promise<VideoData>;
  /** Waits until the video is `so`. @throws {Error} when it FAILED instead. */
  videoWhen(id: string, so: (video: VideoData) => boolean, timeoutMs?: number): Promise<VideoData>;
}

function isStream(value: unknown): value is StreamData {
  return typeof value === 'object' && value !== null && 'id' in value && 'hasSignal' in value;
}

function asStream(value: unknown): StreamData {
  if (!isStream(value)) throw new Error(`this is no stream: ${JSON.stringify(value)}`);
  return value;
}

function isWebhook(value: unknown): value is WebhookData {
  return typeof value === 'object' && value !== null && 'id' in value && 'signingSecret' in value;
}

function isVideo(value: unknown): value is VideoData {
  return typeof value === 'object' && value !== null && 'id' in value && 'renditions' in value;
}

function isUpload(value: unknown): value is UploadData {
  return typeof value === 'object' && value !== null && 'id' in value && 'uploadUrl' in value;
}

export function createPartner(platform: Pick<RunningPlatform, 'api'>, key = OWNER_KEY): Partner {
  const call: Partner['call'] = async (method, path, body) => {
    const response = await fetch(platform.api + path, {
      method,
      headers: headersOf(key),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    const parsed: unknown = JSON.parse(text);
    const data = typeof parsed === 'object' && parsed !== null && 'data' in parsed ? parsed.data : undefined;
    return { data, status: response.status };
  };
  const stream = async (method: string, path: string, body?: object) =>
    asStream((await call(method, path, body)).data);
  const video = async (id: string) => {
    const { data } = await call('GET', `/videos/${id}`);
    if (!isVideo(data)) throw new Error(`this is no video: ${JSON.stringify(data)}`);
    return data;
  };
  return {
    call,
    async createStream(input = {}) {
      const made = await stream('POST', '/streams', { title: 'A test broadcast', ...input });
      if (made.streamKey === null) throw new Error('the new stream came without its key');
      return { ...made, streamKey: made.streamKey };
    },
    stream: (id) => stream('GET', `/streams/${id}`),
    start: (id) => stream('POST', `/streams/${id}/start`),
    stop: (id) => stream('POST', `/streams/${id}/stop`),
    async createWebhook(url, events = []) {
      const { data } = await call('POST', '/me/webhooks', { url, events, description: 'test' });
      if (!isWebhook(data)) throw new Error(`this is no webhook: ${JSON.stringify(data)}`);
      return data;
    },
    async createUpload(input) {
      const { data } = await call('POST', '/upload', input);
      if (!isUpload(data)) throw new Error(`this is no upload: ${JSON.stringify(data)}`);
      return data;
    },
    video,
    async videoWhen(id, so, timeoutMs = 90_000) {
      let last = '';
      const found = await waitFor(
        async () => {
          const now = await video(id);
          last = `${now.status}, ${now.renditions.length} renditions`;
          return (so(now) || now.status === 'FAILED') && now;
        },
        // A key has 1000 requests a minute.
        { timeoutMs, intervalMs: 100, message: () => `the video; last seen ${last}` },
      );
      if (!so(found)) throw new Error(`the video FAILED: ${found.error?.code} ${found.error?.message}`);
      return found;
    },
  };
}
