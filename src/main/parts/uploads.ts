import {
  createUploads,
  toUpload,
  tusEndpoint,
  type Uploads,
  uploadRoutes,
} from '../../features/video/uploads/index.ts';
import type { UploadSessions, VideoIntake } from '../../features/video/videos/index.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

export function uploadsPart(
  needs: BaseContext & { intake: VideoIntake },
): ModuleWithExports<{ uploads: Uploads; uploadSessions: UploadSessions }> {
  const { config, cursors } = needs;
  const uploads = createUploads({ ...needs, publicUrl: config.PUBLIC_URL });
  return {
    exports: { uploads, uploadSessions: sessionsOf(uploads) },
    module: {
      routes: () => uploadRoutes({ uploads, cursors }),
      pages: () => [tusEndpoint({ uploads })],
      tasks: () => [{ name: 'uploads', everyMs: INTERVALS.minute, run: () => uploads.sweep() }],
      // Uploads interrupted by the end of the previous process may continue immediately.
      recover: { api: () => uploads.releaseWriters() },
    },
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
