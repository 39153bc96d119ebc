import findMyWay from 'find-my-way';

/** Which methods a path has, for the `Allow` header of a 405 (docs/concepts/conventions.md#headers). */
export class AllowedMethods {
  readonly #router = findMyWay({ maxParamLength: 65_536 });
  readonly #methods = new Map<string, string[]>();
  readonly #added: { method: string; path: string }[] = [];

  add(method: string, path: string): void {
    const pattern = path.replace(/\{(\w+)\}/g, ':$1');
    const shape = path.replace(/\{\w+\}/g, ':');
    const known = this.#methods.get(shape);
    this.#added.push({ method, path });
    if (known !== undefined) {
      if (known.includes(method)) throw new Error(`two routes for ${method} ${path}`);
      known.push(method);
      return;
    }
    const methods = [method];
    this.#methods.set(shape, methods);
    this.#router.on('GET', pattern, () => {}, methods);
  }

  methods(path: string): readonly string[] {
    const found = this.#router.find('GET', path);
    return Array.isArray(found?.store) && !hasEmptyParameter(found.params) ? found.store.map(String) : [];
  }

  /**
   * Where the router would take one path for another: `DELETE /webhooks/events` for `DELETE /webhooks/{id}`,
   * although `/webhooks/events` is a path of its own, without DELETE.
   */
  shadowed(): { method: string; path: string }[] {
    const found = new Map<string, { method: string; path: string }>();
    const generals = this.#added.filter(({ path }) => path.includes('{'));
    for (const path of new Set(this.#added.map((added) => added.path))) {
      const methods = this.methods(path);
      for (const { method, path: general } of generals) {
        if (methods.includes(method) || !covers(general, path)) continue;
        found.set(`${method} ${path}`, { method, path });
      }
    }
    return [...found.values()];
  }
}

/** `/streams/` is not `/streams/{id}`, although the router finds an empty id in it. */
export function hasEmptyParameter(params: unknown): boolean {
  return Object.values(Object(params)).includes('');
}

const isParameter = (segment: string) => /^\{\w+\}$/.test(segment);

/** Reports whether every URL path of `path` also matches `pattern`. */
function covers(pattern: string, path: string): boolean {
  const [general, special] = [pattern.split('/'), path.split('/')];
  return (
    general.length === special.length &&
    general.every((segment, index) => isParameter(segment) || segment === special[index])
  );
}
