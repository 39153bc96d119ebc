/**
 * Viewer fingerprints: the data stored about viewers, none of which identifies a person.
 *
 * Terminology: *client info* is the data of a request; a *viewer fingerprint* is the part that stays in
 * memory; a *viewer* is the stored part, with a hash that differs each day.
 */
export type { Salts } from './salts.ts';
export type { ViewerFingerprint, ViewerFingerprints } from './service.ts';
