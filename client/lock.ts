import { readdir, readFile, readlink, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Timing } from './timing.ts'

const TRIES = 6
const BEAT_MS = 2_000
const SILENT_MS = 20_000
const LOOK_EVERY_MS = 500

/**
 * Locks a file for this process. Each process first makes its own lock beside the file and then
 * looks for others, so two never both get it. A lock left behind by an ended process is removed: immediately,
 * or after 20 s if the process was in another container, where its end cannot be seen.
 * @throws if another process, or this one, has the lock.
 */
export async function lock(
  file: string,
  { pause, jitter }: Pick<Timing, 'pause' | 'jitter'>,
): Promise<{ release(): Promise<void> }> {
  const path = resolve(file)
  if (held.has(path)) throw new Error(`${file} is already open in this process`)
  held.add(path)
  try {
    for (let tries = 1; ; tries += 1) {
      const own = await announce(path)
      const other = await findLivingLock(path, { own, pause }).catch(async (error: unknown) => {
        await own.remove()
        throw error
      })
      if (other === undefined) {
        return {
          async release() {
            await own.remove()
            held.delete(path)
          },
        }
      }
      await own.remove()
      if (tries === TRIES) {
        throw new Error(
          `${file} is in use by process ${other.pid}; if that is another program, remove ${other.name}`,
        )
      }
      // A random pause, so that two processes that started together do not collide each time.
      await pause(jitter() * 100, NEVER)
    }
  } catch (error) {
    held.delete(path)
    throw error
  }
}

const held = new Set<string>()
const NEVER = new AbortController().signal

type Lock = { readonly name: string; remove(): Promise<void> }

type Owner = {
  readonly pid: number
  /** When the process started: ids are reused, in a container it is most often 1. */
  readonly start?: string | undefined
  /** The scope of the process id: see `here`. */
  readonly where?: string | undefined
}

async function announce(path: string): Promise<Lock> {
  const id = crypto.randomUUID()
  const name = `${path}.lock.${id}`
  const { pid } = process
  const owner: Owner = { pid, start: await startOf(pid), where: await identifyHost() }
  // Renamed when complete, so that no process reads half of it.
  const unnamed = `${path}.${id}.new`
  await writeFile(unnamed, JSON.stringify(owner), { mode: 0o600 })
  await rename(unnamed, name)
  const beat = setInterval(() => {
    utimes(name, new Date(), new Date()).catch(() => undefined)
  }, BEAT_MS)
  beat.unref()
  return {
    name,
    async remove() {
      clearInterval(beat)
      await rm(name, { force: true })
    },
  }
}

/** Another lock, of a living process. Locks of ended processes are removed. */
async function findLivingLock(
  path: string,
  { own, pause }: { own: Lock; pause: Timing['pause'] },
): Promise<{ readonly name: string; readonly pid: number | undefined } | undefined> {
  for (const entry of await readdir(dirname(path))) {
    const name = join(dirname(path), entry)
    if (!entry.startsWith(`${basename(path)}.lock`) || name === own.name) continue
    const owner = await readOwner(name)
    const isHere = owner !== undefined && owner.where === (await identifyHost())
    if (isHere ? await isAlive(owner) : await isTouched(name, pause)) {
      return { name, pid: owner?.pid }
    }
    await rm(name, { force: true })
  }
  return undefined
}

async function readOwner(name: string): Promise<Owner | undefined> {
  try {
    const owner = JSON.parse(await readFile(name, 'utf8')) as Owner | number
    // Version 0.1 wrote only the process id.
    return typeof owner === 'number' ? { pid: owner, where: await identifyHost() } : owner
  } catch {
    return undefined
  }
}

async function isAlive({ pid, start }: Owner): Promise<boolean> {
  if (start === undefined && pid === process.pid) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EPERM') return false
  }
  return start === undefined || start === ((await startOf(pid)) ?? start)
}

/** Whether the lock's process touches it. The other process's clock may differ, so only a change counts. */
async function isTouched(name: string, pause: Timing['pause']): Promise<boolean> {
  const before = await readTouchTime(name)
  for (let waitedMs = 0; before !== undefined && waitedMs < SILENT_MS; waitedMs += LOOK_EVERY_MS) {
    await pause(LOOK_EVERY_MS, NEVER)
    const after = await readTouchTime(name)
    if (after !== before) return after !== undefined
  }
  return false
}

async function readTouchTime(name: string): Promise<number | undefined> {
  return stat(name).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  )
}

/** The start time of a process, on Linux; elsewhere the process id alone must suffice. */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    const status = await readFile(`/proc/${pid}/stat`, 'utf8')
    // After the program's name, which may contain spaces:
    // https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    return status.slice(status.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

/** Identifies the boot of the machine and the container; a constant text where neither is known. */
async function identifyHost(): Promise<string> {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
    return `${boot.trim()} ${await readlink('/proc/self/ns/pid')}`
  } catch {
    return ''
  }
}
