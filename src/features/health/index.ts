/** Liveness, readiness and the public health of the service. */
export type { HealthProbes } from './routes.ts';
export { healthPages, healthRoutes } from './routes.ts';
