import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { UploadSessions, VideoIntake } from '../videos/index.ts';
import { uploadEvents } from './events.ts';
import { uploadRoutes } from './routes.ts';
import { toUpload } from './schemas.ts';
import { createUploads, type Uploads } from './service.ts';
import { tusEndpoint } from './tus.ts';

export { Upload } from './schemas.ts';

export const uploadsDeclarations: Declarations = { events: uploadEvents };

interface UploadsDeps
  extends Pick<
    Platform,
    'bus' | 'clock' | 'config' | 'cursors' | 'db' | 'disk' | 'events' | 'log' | 'secrets' | 'store'
  > {
  intake: VideoIntake;
}

export function createUploadsModule(
  deps: UploadsDeps,
): FeatureModule & { uploads: Uploads; uploadSessions: UploadSessions } {
  const { config, cursors } = deps;
  const uploads = createUploads({ ...deps, publicUrl: config.PUBLIC_URL });
  return {
    uploads,
    uploadSessions: sessionsOf(uploads),
    routes: () => uploadRoutes({ uploads, cursors }),
    pages: () => [tusEndpoint({ uploads })],
    tasks: () => [{ name: 'uploads', everyMs: INTERVALS.minute, run: () => uploads.sweep() }],
    // Uploads interrupted by the end of the previous process may continue immediately.
    recover: { api: () => uploads.releaseWriters() },
  };
}

/** Returns the upload sessions as new videos use them. */
function sessionsOf(uploads: Uploads): UploadSessions {
  return {
    async open(tx, by, videoId, file) {
      const row = await uploads.open(tx, by, videoId, file);
      return { id: row.id, shown: toUpload(row, uploads.urlOf(row)) };
    },
  };
}
