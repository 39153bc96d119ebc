import type { HealthSeries, StreamSignals } from '../../features/live/streams/index.ts';
import type { IngestHooks, StreamHealth } from '../../media/contract/index.ts';
import type { BitrateCeiling } from '../../media/ingest/bitrate-ceiling.ts';
import type { Simulator } from '../../media/ingest/simulator.ts';
import type { LiveManager } from '../../media/live/live-manager.ts';
import type { RecordingManager } from '../../media/recording/recording-manager.ts';
import type { RestreamManager } from '../../media/restream/restream-manager.ts';
import type { CompatibilityReports } from '../../media/whep/compatibility.ts';
import type { Logger } from '../../platform/logger.ts';

interface Deps {
  /** State of streams in the database. */
  signals: StreamSignals;
  /** Packagers, and the playlists of viewers. */
  live: LiveManager;
  recorder: RecordingManager;
  /** Sends it on. */
  restreams: RestreamManager;
  /** Encoders of our own, in test mode. */
  simulator: Simulator;
  log: Logger;
}

/**
 * Returns the hooks of a publish session, from the stream key to the end of its connection, in the order they
 * must run.
 */
export function createIngestHooks({ signals, live, recorder, restreams, simulator, log }: Deps): IngestHooks {
  return {
    /** Nothing is begun for a key that may not publish. */
    authorise: (request) => signals.authorise({ ...request, key: simulator.keyOf(request.key) }),

    /** `hasSignal` first: when that fails, the encoder is refused and there is nothing to undo. */
    async onStart(session) {
      await signals.publishStarted(session);
      await live.onStart(session);
    },

    /** Codec and resolution are known, or have changed. Media continues even when this cannot be stored. */
    onMedia(session) {
      live.onMedia(session);
      recorder.publishesChanged();
      restreams.publishesChanged();
      signals.mediaChanged(session).catch((error: unknown) => {
        log.warn({ err: error, streamId: session.streamId }, 'a publish session could not be stored');
      });
    },

    /** Notifies the creator of the reason before the connection ends. */
    onRefused: onPublishRejected({ signals, log }),

    /** Side by side: the signal falls, or begins its grace, while the last segment is still being written. */
    async onEnd(end) {
      recorder.publishesChanged();
      restreams.publishesChanged();
      await Promise.all([signals.publishEnded(end), live.onEnd(end)]);
    },
  };
}

export function onPublishRejected({ signals, log }: Pick<Deps, 'signals' | 'log'>): IngestHooks['onRefused'] {
  return async (session, issue) => {
    await signals.publishRejected(session, issue).catch((error: unknown) => {
      log.error({ err: error, streamId: session.streamId }, 'the rejection of a publish could not be stored');
    });
  };
}

/** Reports the measurements of a packager, with problems of the recording of the same publish session. */
export function reportHealth({
  signals,
  recorder,
  ceiling,
  fitness,
  healthSeries,
  log,
}: Pick<Deps, 'signals' | 'recorder' | 'log'> & {
  ceiling: BitrateCeiling;
  fitness: CompatibilityReports;
  healthSeries: HealthSeries;
}) {
  return (streamId: string, measured: StreamHealth): void => {
    const issues = [...measured.issues];
    for (const issue of [recorder.issue(streamId), fitness.issue(streamId)]) {
      if (issue !== null) issues.push(issue);
    }
    if (ceiling.isOver(streamId)) issues.push('BITRATE_OVER_PLAN');
    const health = { ...measured, issues };
    healthSeries.add(streamId, health);
    signals.reportHealth(streamId, health).catch((error: unknown) => {
      log.warn({ err: error, streamId }, 'the health of a signal could not be stored');
    });
  };
}
