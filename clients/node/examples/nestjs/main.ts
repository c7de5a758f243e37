// NestJS: 100 requests a minute for each address and route. clients/node/README.md says how to install the package; then:
// npm install @nestjs/common @nestjs/core @nestjs/platform-express @nestjs/throttler ioredis reflect-metadata rxjs \
//   typescript @types/node
// npx tsc --strict --target es2022 --module nodenext --experimentalDecorators --emitDecoratorMetadata main.ts
import 'reflect-metadata'
import { Controller, Get, Module } from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler'
import { Redis } from 'ioredis'
import { RedisRlThrottlerStorage } from 'rate-limit-redis-rl/nestjs'

// A command that is sent again may be charged twice.
const client = new Redis('redis://localhost:6379', { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false })
client.on('error', () => {}) // the storage logs it

@Controller()
class Hello {
  @Get()
  hello() {
    return 'hello\n'
  }
}

@Module({
  imports: [
    ThrottlerModule.forRoot({
      throttlers: [{ ttl: 60_000, limit: 100 }],
      storage: new RedisRlThrottlerStorage({ client, algorithm: 'TOKEN', prefix: 'api:' }),
    }),
  ],
  controllers: [Hello],
  providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
})
class App {}

const app = await NestFactory.create(App)
await app.listen(3000)
