import { join } from 'node:path'
import { GenericContainer, getContainerRuntimeClient } from 'testcontainers'
import { startGuard } from './guard.ts'
import { untilItAnswers, type OwnServer } from './own-server.ts'
import { dataFolder } from './test-run.ts'

// Its reaper would be another image to pull, and the guard does the same.
process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true'

/** Where published ports of containers are reached; undefined when no Docker daemon answers. */
export async function containerHost(): Promise<string | undefined> {
  try {
    return (await getContainerRuntimeClient()).info.containerRuntime.host
  } catch {
    return undefined
  }
}

/** Starts a container on a port of the host; undefined if the image is unavailable. */
export async function startContainer({
  image,
  port,
  containerPort,
  environment = {},
  answers,
}: {
  image: string
  port: number
  containerPort: number
  environment?: Record<string, string>
  answers: () => Promise<unknown>
}): Promise<OwnServer | undefined> {
  let id: string
  try {
    const started = await new GenericContainer(image)
      .withExposedPorts({ container: containerPort, host: port })
      .withEnvironment(environment)
      .start()
    id = started.getId()
  } catch (error) {
    process.stderr.write(`no container of ${image}: ${String(error)}\n`)
    return undefined
  }
  const guard = startGuard(['container', id], join(dataFolder('container'), 'output.log'))
  const container = (await getContainerRuntimeClient()).container.getById(id)
  await untilItAnswers(answers, guard.isEnded)
  return {
    guardPid: guard.pid,
    async kill() {
      await container.kill({ signal: 'SIGKILL' })
      await container.wait()
    },
    async stop() {
      await container.stop()
    },
    async restart() {
      await container.start()
      await untilItAnswers(answers, guard.isEnded)
    },
  }
}
