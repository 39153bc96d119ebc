import type { FeatureModule } from '../features/module.ts';
import { createProcessReadiness } from '../platform/readiness.ts';
import { DECLARATIONS } from './declarations.ts';
import { createModules } from './modules.ts';
import { openPorts, type Settings } from './ports.ts';
import { createWiring } from './wiring.ts';

/**
 * Builds the whole program, once per process; each role uses the modules that it needs.
 *
 * @param additional further modules, for tests.
 */
export async function createContainer(settings: Settings, additional: readonly FeatureModule[] = []) {
  const { ports, close } = await openPorts(settings);
  const { connect, ...wiring } = createWiring(ports, {
    declared: DECLARATIONS,
    strict: settings.strictEvents ?? false,
  });
  const platform = { ...ports, ...wiring, readiness: createProcessReadiness() };
  const { modules: ownModules, services } = createModules(platform);
  const modules = [...ownModules, ...additional];
  connect(modules);
  return {
    ...platform,
    ...services,
    modules,
    async close() {
      for (const module of modules.toReversed()) await module.close?.();
      await wiring.facts.close();
      await close();
    },
  };
}

export type Container = Awaited<ReturnType<typeof createContainer>>;
