/** Privacy: erasure of accounts and people, and data exports. */

export { downloadPages } from './download.pages.ts';
export { createEraser } from './erase.service.ts';
export { createErasure, type Erasure } from './erasure.service.ts';
export { createExporter } from './export.service.ts';
export { createExports } from './exports.service.ts';
export { erasureJob, exportJob } from './jobs.ts';
export { privacyRoutes } from './routes.ts';
export { undoDeletionPages } from './undo-deletion.pages.ts';
