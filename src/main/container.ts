import { buildCore, coreDeclarations, type OptionalModule } from './core.ts';
import * as allNouns from './optional-modules.ts';
import { openPorts, type Settings } from './ports.ts';
import { createWiring } from './wiring.ts';

/** Builds the whole program, once per process; each role uses the modules that it needs. */
export async function createContainer(
  settings: Settings,
  nouns: readonly OptionalModule[] = Object.values(allNouns),
) {
  const { ports, close } = await openPorts(settings);
  const { connect, ...wiring } = createWiring(ports, {
    declared: [coreDeclarations, ...nouns],
    strict: settings.strictEvents ?? false,
  });
  const { core, parts: coreParts } = buildCore({ ...ports, ...wiring });
  const parts = [...coreParts, ...nouns.map((noun) => noun.build(core))];
  connect(parts);
  return {
    ...core,
    parts,
    async close() {
      for (const part of parts.toReversed()) await part.close?.();
      await wiring.facts.close();
      await close();
    },
  };
}

export type Container = Awaited<ReturnType<typeof createContainer>>;
