/** Privacy: accounts and people that are erased. */
export { createEraser } from './erase.service.ts';
export { createErasure, type Erasure } from './erasure.service.ts';
export { erasureJob } from './jobs.ts';
export { keepPages } from './keep.pages.ts';
export { privacyRoutes } from './routes.ts';
