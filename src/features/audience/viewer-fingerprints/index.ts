/**
 * Arrivals: what is kept of those who watch, which is nothing that names a person.
 *
 * Terminology: a *visit* is a request as it came; an *arrival* is what stays of it in memory; a *viewer* is what is
 * stored, with a hash that is another one on another day.
 */
export { createSalts, type Salts } from './salts.ts';
export { createViewerFingerprints, type ViewerFingerprint, type ViewerFingerprints } from './service.ts';
