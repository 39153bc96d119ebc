export declare const NODE_BINARIES: { version: string; sha256: Record<string, string> };
export declare function refuseNode(path: string, system?: string): string | null;
