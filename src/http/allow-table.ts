import findMyWay from 'find-my-way';

/** Which methods a path has, for the `Allow` header of a 405 (contract 4.1). */
export class AllowTable {
  readonly #router = findMyWay({ maxParamLength: 4096 });
  readonly #methods = new Map<string, string[]>();

  add(method: string, path: string): void {
    const pattern = path.replace(/\{(\w+)\}/g, ':$1');
    const shape = path.replace(/\{\w+\}/g, ':');
    const known = this.#methods.get(shape);
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
    return Array.isArray(found?.store) ? found.store.map(String) : [];
  }
}
