export declare function trimFolder(folder: string, bytes: number): void;
