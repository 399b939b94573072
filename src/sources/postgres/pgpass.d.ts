declare module 'pgpass' {
  interface Connection {
    readonly host: string
    readonly port: number
    readonly database: string
    readonly user: string
  }
  function pgpass(connection: Connection, done: (password: string | undefined) => void): void
  export = pgpass
}
