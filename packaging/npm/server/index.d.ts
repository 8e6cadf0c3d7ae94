export interface StartOptions {
  /** The port on loopback; any free one by default. */
  port?: number;
  /** Where data is kept; in memory by default. */
  dataDir?: string;
  /** us-east-1 by default. */
  region?: string;
  /** The program, if it is not the one of the platform's package. */
  binary?: string;
  /** Further flags of `stator serve`. */
  args?: string[];
}

export interface Server {
  endpoint: string;
  port: number;
  region: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
  pid: number;
  /** Resolves when the process has ended; safe to call again. */
  stop(): Promise<void>;
}

export function start(options?: StartOptions): Promise<Server>;
