import type { Logger } from '../../platform/logger.ts';
import type { IngestEngine, WhipOffer, WhipPort } from '../contract/index.ts';
import type { FfmpegProgram } from '../ffmpeg/program.ts';
import { readLink } from '../rooms/janus/link-file.ts';
import { InvalidOfferError } from './offer.ts';
import type { OpusPassthrough } from './opus-passthrough.ts';
import { openPublisher, type Publisher } from './publisher.ts';

export interface WhipManagerOptions {
  engine: Pick<IngestEngine, 'publish' | 'refuse'>;
  port: WhipPort;
  nodeId: string;
  ffmpeg: FfmpegProgram;
  /** Receiver of the original audio, in addition to the publish. */
  sound: Pick<OpusPassthrough, 'tell'>;
  /** File with the connection data of Janus. */
  linkFile: string;
  log: Logger;
}

/** Takes publishes by WHIP into the ingest of this process (docs/decisions/whip.md#through-janus). */
export interface WhipManager {
  /** Releases publishes of an earlier process. */
  recover(): Promise<void>;
  /** Answers pending offers, and ends sessions that their clients have ended. Never rejects. */
  sync(): Promise<void>;
  /** Leaves offers to other nodes; open publishes continue. */
  refusePublishes(): void;
  /** Ends every publish of this node; clients may reconnect. */
  stop(): Promise<void>;
}

/** The one that publishes, and those that are about to take over. */
const MAX_CONNECTIONS_PER_STREAM = 4;
const TOO_MANY = 'Too many WHIP connections to this stream are starting. Try again in a moment.';
const NO_JANUS = 'WHIP publishing is currently unavailable. Try again in a moment, or publish with RTMP.';

export function createWhipManager(options: WhipManagerOptions): WhipManager {
  const { port, nodeId, linkFile, log } = options;
  const publishers = new Map<string, Publisher>();
  /** Streams by answered or open session. */
  const streams = new Map<string, string>();
  const answering = new Set<string>();
  let syncing: Promise<void> | null = null;
  let isAgain = false;
  let isStopping = false;
  let isRefusing = false;

  const answer = async ({ sessionId, streamId, offer }: WhipOffer): Promise<void> => {
    const isTooMany =
      [...streams.values()].filter((id) => id === streamId).length >= MAX_CONNECTIONS_PER_STREAM;
    streams.set(sessionId, streamId);
    const publisher = isTooMany ? TOO_MANY : await open(options, streamId, offer);
    if (typeof publisher === 'string') {
      streams.delete(sessionId);
      return port.refused(sessionId, publisher);
    }
    publishers.set(sessionId, publisher);
    const forget = () => {
      publishers.delete(sessionId);
      streams.delete(sessionId);
      return port.ended(sessionId);
    };
    publisher.gone
      .then(forget)
      .catch((error: unknown) =>
        log.warn({ err: error }, 'the end of a WHIP publish session could not be stored'),
      );
    await port.answered(sessionId, publisher.answer);
  };
  const look = async (): Promise<void> => {
    if ((await readLink(linkFile)) === null) return;
    if (!isRefusing) port.isThere();
    for (const offered of isRefusing ? [] : await port.take(nodeId)) {
      const { sessionId } = offered;
      answering.add(sessionId);
      answer(offered)
        .catch((error: unknown) => log.error({ err: error }, 'cannot answer a WHIP offer'))
        .finally(() => answering.delete(sessionId));
    }
    if (publishers.size === 0) return;
    const known = new Map(publishers);
    const wanted = await port.carried(nodeId);
    for (const [sessionId, publisher] of known) {
      if (!wanted.has(sessionId) && !answering.has(sessionId)) void publisher.close(true);
    }
  };
  const run = async (): Promise<void> => {
    do {
      isAgain = false;
      await look().catch((error: unknown) => log.warn({ err: error }, 'cannot list WHIP publishers'));
    } while (isAgain && !isStopping);
    syncing = null;
  };
  return {
    recover: () => port.started(nodeId),
    sync() {
      isAgain = true;
      syncing ??= run();
      return syncing;
    },
    refusePublishes() {
      isRefusing = true;
    },
    async stop() {
      isStopping = true;
      await syncing;
      await Promise.all([...publishers.values()].map((publisher) => publisher.close(false)));
    },
  };
}

/** @returns the publisher, or the message why it cannot be opened. */
async function open(
  { engine, port, ffmpeg, sound, linkFile, log }: WhipManagerOptions,
  streamId: string,
  offer: string,
): Promise<Publisher | string> {
  const grant = await port.admit(streamId);
  if (typeof grant === 'string') return grant;
  try {
    return await openPublisher({ engine, grant, offer, ffmpeg, sound, linkFile, log });
  } catch (error) {
    if (error instanceof InvalidOfferError) return error.message;
    log.warn({ err: error, streamId }, 'Janus did not accept a WHIP publish session');
    return NO_JANUS;
  }
}
