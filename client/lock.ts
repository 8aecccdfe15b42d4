import { open, readFile, rm } from 'node:fs/promises'

/**
 * Takes a file for this process alone, by a file beside it that names the process. What a killed process
 * has left behind is taken over.
 * @throws if another process, or this one, has it.
 */
export async function lock(file: string): Promise<{ release(): Promise<void> }> {
  const name = `${file}.lock`
  if (held.has(name)) throw new Error(`${file} is already open in this process`)
  held.add(name)
  try {
    if (!(await make(name))) {
      const owner = Number((await readFile(name, 'utf8')) || (await again(name)))
      if (isAlive(owner)) {
        throw new Error(
          `${file} is in use by process ${owner}; if that is another program, remove ${name}`,
        )
      }
      await rm(name, { force: true })
      if (!(await make(name))) throw new Error(`${file} is in use by another process`)
    }
  } catch (error) {
    held.delete(name)
    throw error
  }
  return {
    async release() {
      await rm(name, { force: true })
      held.delete(name)
    },
  }
}

const held = new Set<string>()

/** Whoever makes it needs a moment to write its number. */
async function again(name: string): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, 200))
  return readFile(name, 'utf8')
}

async function make(name: string): Promise<boolean> {
  try {
    const handle = await open(name, 'wx', 0o600)
    await handle.writeFile(String(process.pid))
    await handle.close()
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** This process does not hold it, so a lock of its own number is from before a restart. */
function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code
}
