// The environment of the server and of initdb: only what they need. The caller's own (with its passwords and PG* settings)
// never reaches a child that any database user can make print it.

/** PATH, a fixed locale, and the library path when the links could not lie beside the libraries. */
export function smallEnvironment(libraryPath: string | null): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    LC_ALL: 'C',
    TZ: 'UTC',
    ...(libraryPath === null ? {} : { LD_LIBRARY_PATH: libraryPath, DYLD_LIBRARY_PATH: libraryPath }),
  }
}
