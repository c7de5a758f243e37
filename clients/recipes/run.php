<?php
// Prints what each of two requests gets: php run.php <file of the recipe> <port of the server>.
error_reporting(E_ALL & ~E_DEPRECATED); // Debian's Laravel is older than its PHP
foreach (['Container', 'Http', 'Redis', 'Support'] as $part) {
    require_once "Illuminate/$part/autoload.php";
}
use Illuminate\Container\Container;
use Illuminate\Http\Exceptions\ThrottleRequestsException;
use Illuminate\Http\Request;

$options = ['host' => '127.0.0.1', 'port' => $argv[2], 'timeout' => 5, 'read_timeout' => 5];
$application = new Container();
$application->instance('redis', new Illuminate\Redis\RedisManager($application, 'phpredis', ['default' => $options]));
Illuminate\Support\Facades\Facade::setFacadeApplication($application);
require $argv[1];

foreach ([1, 2] as $_) {
    try {
        $request = Request::create('/', server: ['REMOTE_ADDR' => '192.0.2.1']);
        echo (new LimitRate())->handle($request, fn () => '200'), "\n";
    } catch (ThrottleRequestsException $denied) {
        echo $denied->getStatusCode(), ' ', $denied->getHeaders()['Retry-After'], "\n";
    } catch (RuntimeException $error) {
        echo '500 ', $error->getMessage(), "\n";
    }
}
