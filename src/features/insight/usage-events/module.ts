export { createUsageEvents } from './service.ts';
