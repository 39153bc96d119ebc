/** Liveness, readiness and the public health of the service. */
export { healthPages } from './pages.ts';
export { databaseProbes, type HealthProbes, paymentsProbe } from './probes.ts';
export { createReadiness, type ReadinessCheck } from './readiness.service.ts';
export { healthRoutes } from './routes.ts';
