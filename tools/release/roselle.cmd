@echo off
rem Starts Roselle on Windows with the run time of this archive, else with ROSELLE_JAVA_HOME, JAVA_HOME or java on the path.
setlocal
set "ROSELLE_FOLDER=%~dp0"
set "ROSELLE_JAVA=java"
if defined JAVA_HOME set "ROSELLE_JAVA=%JAVA_HOME%\bin\java.exe"
if exist "%ROSELLE_FOLDER%runtime\bin\java.exe" set "ROSELLE_JAVA=%ROSELLE_FOLDER%runtime\bin\java.exe"
if defined ROSELLE_JAVA_HOME set "ROSELLE_JAVA=%ROSELLE_JAVA_HOME%\bin\java.exe"
"%ROSELLE_JAVA%" "@%ROSELLE_FOLDER%java.options" %ROSELLE_JAVA_OPTIONS% -p "%ROSELLE_FOLDER%lib" -m roselle.cli/roselle.cli.Main %*
exit /b %ERRORLEVEL%
