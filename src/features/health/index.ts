/** Liveness, readiness and the public health of the service. */
export { databaseProbes } from './probes.ts';
export { createReadiness, type ReadinessCheck } from './readiness.service.ts';
export type { HealthProbes } from './routes.ts';
export { healthPages, healthRoutes } from './routes.ts';
