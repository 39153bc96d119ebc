import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { systemClock } from '../../src/kernel/clock.ts';
import type {
  IngestEnd,
  IngestHooks,
  IngestSession,
  PublishRequest,
  RejectionIssue,
} from '../../src/media/contract/index.ts';
import {
  createEmbeddedRtmp,
  type EmbeddedRtmpEngine,
  type EmbeddedRtmpOptions,
} from '../../src/media/ingest/embedded-rtmp.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { RtmpClient } from './client.ts';
import { AAC_48K_STEREO, AVC_360P30, audioHeader, videoHeader } from './media.ts';

export type HookCall =
  | { hook: 'authorise'; request: PublishRequest }
  | { hook: 'start' | 'media'; session: IngestSession }
  | { hook: 'refused'; session: IngestSession; issue: RejectionIssue }
  | { hook: 'end'; end: IngestEnd };

export interface TestIngest {
  engine: EmbeddedRtmpEngine;
  port: number;
  /** Hook calls in their order. */
  calls: HookCall[];
  sessions(hook: 'start' | 'media' | 'refused'): IngestSession[];
  ends(): IngestEnd[];
  /** `rtmp://…/live/<key>` */
  url(key: string): string;
}

/**
 * Starts an engine on free ports that ends with the test. Keys that begin with `key-` are valid; the part
 * after it, up to a second `-`, names the stream, so `key-a-1` and `key-a-2` are two encoders of one stream.
 */
export async function startIngest(
  t: TestContext,
  options: Partial<EmbeddedRtmpOptions> = {},
  hooks: Partial<IngestHooks> = {},
): Promise<TestIngest> {
  const calls: HookCall[] = [];
  const engine = createEmbeddedRtmp({
    host: '127.0.0.1',
    port: 0,
    nodeId: 'node-1',
    log: createLogger('silent'),
    clock: systemClock,
    ...options,
  });
  t.after(() => engine.stop());
  await engine.start({
    authorise: (request) => {
      calls.push({ hook: 'authorise', request });
      return hooks.authorise?.(request) ?? grantByName(request);
    },
    onStart: async (session) => {
      calls.push({ hook: 'start', session });
      await hooks.onStart?.(session);
    },
    onMedia: (session) => {
      calls.push({ hook: 'media', session });
      hooks.onMedia?.(session);
    },
    onRefused: async (session, issue) => {
      calls.push({ hook: 'refused', session, issue });
      await hooks.onRefused?.(session, issue);
    },
    onEnd: async (end) => {
      calls.push({ hook: 'end', end });
      await hooks.onEnd?.(end);
    },
  });
  return {
    engine,
    port: engine.ports.rtmp,
    calls,
    sessions: (hook) => calls.flatMap((call) => (call.hook === hook ? [call.session] : [])),
    ends: () => calls.flatMap((call) => (call.hook === 'end' ? [call.end] : [])),
    url: (key) => `rtmp://127.0.0.1:${engine.ports.rtmp}/live/${key}`,
  };
}

export async function grantByName(request: PublishRequest) {
  const [prefix, stream] = request.key.split('-');
  return prefix === 'key' && stream ? { streamId: `str_${stream}`, maxHeight: 1080, maxFps: 60 } : null;
}

/** Response codes to a publish. */
export const STARTED = 'NetStream.Publish.Start';
export const REFUSED = 'NetStream.Publish.BadName';
/** Response while the stream key cannot be checked. */
export const UNAVAILABLE = 'NetStream.Publish.Failed';

/** Returns a raw client whose publish has been accepted; it ends with the test. */
export async function openPublisher(t: TestContext, port: number, key: string): Promise<RtmpClient> {
  const client = await RtmpClient.connected(port);
  t.after(() => client.destroy());
  assert.equal(await client.publish(key), STARTED);
  return client;
}

/** The sequence headers of 360p30 H.264 and 48 kHz AAC. */
export function sendHeaders(client: RtmpClient, timestamp = 0): void {
  client.media('video', timestamp, videoHeader(AVC_360P30));
  client.media('audio', timestamp, audioHeader(AAC_48K_STEREO));
}
