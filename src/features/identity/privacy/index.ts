/** Privacy: accounts and people that are erased, and archives of all that an account has. */

export { downloadPages } from './download.pages.ts';
export { createEraser } from './erase.service.ts';
export { createErasure, type Erasure } from './erasure.service.ts';
export { createExporter } from './export.service.ts';
export { createExports } from './exports.service.ts';
export { erasureJob, exportJob } from './jobs.ts';
export { privacyRoutes } from './routes.ts';
export { undoDeletionPages } from './undo-deletion.pages.ts';
